/** The bridge's part in a terminal: a pipe to the owning ship that looks at what clients send. */
import { type Clock, systemClock } from "../../shared/clock.ts";
import type { Socket } from "../../shared/http/socket.ts";
import {
  type ClientFrame,
  decodeClientFrame,
  terminalClose,
} from "../../shared/terminal/protocol.ts";
import { Flow } from "./flow.ts";

/** Opens the owning ship's terminal socket; null when nothing online owns the workspace. May reject. */
export type DialUpstream = (signal: AbortSignal) => Promise<Socket | null>;

/**
 * Pipes `client` to what `dial` opens until either side ends; settles when both have. Client frames are
 * validated and rewritten in their plain form, server frames pass untouched. Frames that come before the
 * ship answers, or faster than one side takes them, wait within the bounds of `Flow`. Never rejects: a
 * workspace that cannot be reached is `exit` 1 to the client.
 */
export async function tunnel(
  client: Socket,
  dial: DialUpstream,
  clock: Clock = systemClock,
): Promise<void> {
  const pipe = new Tunnel(client, clock);
  let upstream: Socket | null = null;
  try {
    upstream = await dial(pipe.aborted);
  } catch {
    // Why is the caller's to log: to the client an unreachable ship is like an unknown workspace.
  }
  if (upstream === null) pipe.unreachable();
  else pipe.open(upstream);
  await pipe.over;
}

class Tunnel {
  readonly #abort = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #up: Flow;
  #down: Flow | null = null;
  #upstream: Socket | null = null;
  /** How it ended, once it has: what a ship that answers too late is told. */
  #ended: { readonly code: number; readonly reason: string } | null = null;

  constructor(private readonly client: Socket, private readonly clock: Clock) {
    this.#up = this.#flow(client);
    client.onText((text) => this.#fromClient(text));
    client.onBinary(() => this.#end(terminalClose.binary));
    client.onClose((code, reason) => {
      this.#up.finish();
      this.#end({ code, reason });
    });
  }

  /** Aborts when there is no client any more to dial for. */
  get aborted(): AbortSignal {
    return this.#abort.signal;
  }
  /** Settles when both sides have closed. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  unreachable(): void {
    this.client.send(JSON.stringify({ type: "exit", code: 1 }));
    this.#end(terminalClose.normal);
    this.#over.resolve();
  }

  open(upstream: Socket): void {
    upstream.onClose((code, reason) => {
      this.#down?.finish();
      this.#end({ code, reason });
      this.#over.resolve();
    });
    if (this.#ended !== null) return upstream.close(this.#ended.code, this.#ended.reason);
    this.#upstream = upstream;
    const down = this.#down = this.#flow(upstream);
    upstream.onBinary(() => this.#end(terminalClose.binary));
    upstream.onText((text) => down.accept(text));
    down.open(this.client);
    this.#up.open(upstream);
  }

  #flow(from: Socket): Flow {
    const onOverflow = () => this.#end(terminalClose.overflow);
    return new Flow({ from, clock: this.clock, onOverflow });
  }

  #fromClient(text: string): void {
    if (this.#ended !== null) return;
    const frame: ClientFrame | null = decodeClientFrame(text);
    if (frame === null) return this.#end(terminalClose.invalid);
    this.#up.accept(JSON.stringify(frame));
  }

  #end(ending: { readonly code: number; readonly reason: string }): void {
    if (this.#ended !== null) return;
    this.#ended = ending;
    this.#up[Symbol.dispose]();
    this.#down?.[Symbol.dispose]();
    this.#abort.abort();
    this.client.close(ending.code, ending.reason);
    this.#upstream?.close(ending.code, ending.reason);
  }
}
