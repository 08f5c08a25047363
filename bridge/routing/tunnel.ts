/** The bridge's part in a terminal: a pipe to the owning ship that looks at what clients send. */
import type { Socket } from "../../shared/http/socket.ts";
import { limits } from "../../shared/limits.ts";
import {
  type ClientFrame,
  decodeClientFrame,
  terminalClose,
} from "../../shared/terminal/protocol.ts";

/** Opens the owning ship's terminal socket; null when nothing online owns the workspace. May reject. */
export type DialUpstream = (signal: AbortSignal) => Promise<Socket | null>;

/**
 * Pipes `client` to what `dial` opens until either side ends; settles when both have. Client frames are
 * validated and rewritten in their plain form, server frames pass untouched. Frames that come before the
 * ship answers wait. Never rejects: a workspace that cannot be reached is `exit` 1 to the client.
 */
export async function tunnel(client: Socket, dial: DialUpstream): Promise<void> {
  const pipe = new Tunnel(client);
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

const encoder = new TextEncoder();

class Tunnel {
  readonly #abort = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  #upstream: Socket | null = null;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** How it ended, once it has: what a ship that answers too late is told. */
  #ended: { readonly code: number; readonly reason: string } | null = null;

  constructor(private readonly client: Socket) {
    client.onText((text) => this.#fromClient(text));
    client.onBinary(() => this.#end(terminalClose.binary));
    client.onClose((code, reason) => this.#end({ code, reason }));
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
      this.#end({ code, reason });
      this.#over.resolve();
    });
    if (this.#ended !== null) return upstream.close(this.#ended.code, this.#ended.reason);
    this.#upstream = upstream;
    upstream.onBinary(() => this.#end(terminalClose.binary));
    upstream.onText((text) => this.#send(this.client, text));
    for (const text of this.#waiting.splice(0)) this.#send(upstream, text);
  }

  #fromClient(text: string): void {
    if (this.#ended !== null) return;
    const frame: ClientFrame | null = decodeClientFrame(text);
    if (frame === null) return this.#end(terminalClose.invalid);
    const plain = JSON.stringify(frame);
    if (this.#upstream !== null) return this.#send(this.#upstream, plain);
    this.#waitingBytes += encoder.encode(plain).length;
    if (this.#waitingBytes > limits.socketPendingBytesMax) {
      return this.#end(terminalClose.overflow);
    }
    this.#waiting.push(plain);
  }

  /** One frame may be larger than the bound: what counts is what the one before left behind. */
  #send(to: Socket, text: string): void {
    if (this.#ended !== null) return;
    if (to.bufferedBytes > limits.socketPendingBytesMax) return this.#end(terminalClose.overflow);
    to.send(text);
  }

  #end(ending: { readonly code: number; readonly reason: string }): void {
    if (this.#ended !== null) return;
    this.#ended = ending;
    this.#waiting = [];
    this.#abort.abort();
    this.client.close(ending.code, ending.reason);
    this.#upstream?.close(ending.code, ending.reason);
  }
}
