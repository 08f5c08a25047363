/**
 * One connection to a ship's events socket: opened, its first `sync` awaited, every frame checked. Used by
 * registration (which learns the ship's name from it) and by each reconnect alike.
 */
import type { DialOptions } from "../../shared/host/dial.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { limits } from "../../shared/limits.ts";
import { messageOf } from "../../shared/errors.ts";
import { redactUrl } from "../../shared/log.ts";
import { type FleetEvent, fleetEventSchema } from "../../shared/schema/event.ts";

/** Opens a WebSocket: `shared/host/dial.ts`. */
export type Dial = (url: string, options: DialOptions) => Promise<Socket>;
export type SyncEvent = Extract<FleetEvent, { type: "sync" }>;

/** Why a ship's events could not be had; the message quotes nothing that the ship sent. */
export class ShipEventsError extends Error {
  override readonly name = "ShipEventsError";
}

export interface OpenShipEvents {
  /** Base URL of the ship. */
  readonly url: string;
  readonly token: string | null;
  readonly dial: Dial;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** What a connection tells its owner. */
export interface ShipEventsHandlers {
  event(event: FleetEvent): void;
  /** Once, and nothing after it. */
  closed(why: string): void;
}

/** Events kept between the first sync and `listen`; more close the connection, which resyncs. */
const earlyEventsMax = 1024;

/** The headers of every call to a ship. */
export function shipHeaders(token: string | null): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/**
 * Connects and waits for the first `sync`, `limits.probeMs` for both together. Throws `ShipEventsError`,
 * or the reason of `signal`.
 */
export async function openShipEvents(options: OpenShipEvents): Promise<ShipEvents> {
  const { clock, signal } = options;
  signal?.throwIfAborted();
  const giveUp = new AbortController();
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  giveUp.signal.addEventListener("abort", () => ended.reject(giveUp.signal.reason));
  const onAbort = () => giveUp.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  using _timer = clock.after(
    limits.probeMs,
    () => giveUp.abort(new ShipEventsError(`no sync event within ${limits.probeMs} ms`)),
  );
  try {
    const socket = await openSocket(options, giveUp.signal, ended.promise);
    const events = new ShipEvents(socket);
    try {
      await Promise.race([events.first, ended.promise]);
      return events;
    } catch (thrown) {
      socket.terminate();
      throw thrown;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

async function openSocket(
  { url, token, dial }: OpenShipEvents,
  signal: AbortSignal,
  ended: Promise<never>,
): Promise<Socket> {
  const opening = dial(`${url.replace(/^http/, "ws")}/events`, {
    headers: shipHeaders(token),
    openTimeoutMs: limits.probeMs,
    payloadBytesMax: limits.eventPayloadBytesMax,
    heartbeatMs: limits.heartbeatMs,
    compress: true,
    signal,
  });
  try {
    return await Promise.race([opening, ended]);
  } catch (thrown) {
    // A socket that opens after all is nobody's.
    opening.then((socket) => socket.terminate(), () => {});
    if (signal.aborted) throw signal.reason;
    throw new ShipEventsError(redactUrl(messageOf(thrown)).slice(0, 200));
  }
}

/** An open connection whose first frame was (or will be) a sync. */
export class ShipEvents {
  readonly #first = Promise.withResolvers<SyncEvent>();
  #sync: SyncEvent | null = null;
  #early: FleetEvent[] = [];
  #handlers: ShipEventsHandlers | null = null;
  #ended: string | null = null;

  constructor(private readonly socket: Socket) {
    this.#first.promise.catch(() => {});
    socket.onText((text) => this.#take(text));
    socket.onBinary(() => this.#fault("a binary frame"));
    socket.onClose((code) => this.#end(`the connection closed with code ${code}`));
  }

  get first(): Promise<SyncEvent> {
    return this.#first.promise;
  }

  /** The first event. Only once `openShipEvents` has given this. */
  get sync(): SyncEvent {
    if (this.#sync === null) throw new Error("no sync yet");
    return this.#sync;
  }

  /** Hands over: what came meanwhile first, and the close if there was one. Called once. */
  listen(handlers: ShipEventsHandlers): void {
    this.#handlers = handlers;
    const early = this.#early;
    this.#early = [];
    for (const event of early) {
      if (this.#handlers !== handlers) return;
      handlers.event(event);
    }
    if (this.#ended !== null) handlers.closed(this.#ended);
  }

  /** Ends the connection without telling the handlers. */
  close(code: number, reason: string): void {
    this.#handlers = null;
    this.socket.close(code, reason);
  }

  /** Drops the connection at once, without telling the handlers. */
  terminate(): void {
    this.#handlers = null;
    this.socket.terminate();
  }

  #take(text: string): void {
    if (this.#ended !== null) return;
    const event = parseEvent(text);
    if (event === null) return this.#fault("a frame that is no fleet event");
    if (this.#sync === null) {
      if (event.type !== "sync") return this.#fault("another event before its sync");
      this.#sync = event;
      this.#first.resolve(event);
    } else if (this.#handlers !== null) this.#handlers.event(event);
    else if (this.#early.length < earlyEventsMax) this.#early.push(event);
    else this.#fault("too many events at once");
  }

  #fault(what: string): void {
    this.#end(`it sent ${what}`);
    this.socket.terminate();
  }

  #end(why: string): void {
    if (this.#ended !== null) return;
    this.#ended = why;
    this.#first.reject(new ShipEventsError(why));
    this.#handlers?.closed(why);
  }
}

function parseEvent(text: string): FleetEvent | null {
  try {
    const parsed = fleetEventSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
