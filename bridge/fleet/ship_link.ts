/**
 * The bridge's line to one ship of the roster: its events socket, reconnected with exponential backoff, and
 * the client that calls it. Online exactly while a socket is open on which the ship has proved its name.
 */
import { type ShipApi, shipApi } from "../../shared/api/ship_api.ts";
import type { Clock } from "../../shared/clock.ts";
import { messageOf } from "../../shared/errors.ts";
import { Client } from "../../shared/http/client.ts";
import type { ShipName } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import { type Log, redactUrl } from "../../shared/log.ts";
import type { FleetEvent } from "../../shared/schema/event.ts";
import type { ShipRecord, ShipStatus } from "../../shared/schema/ship.ts";
import {
  type Dial,
  openShipEvents,
  ShipEvents,
  shipHeaders,
  type SyncEvent,
} from "./ship_events.ts";

/** What a link tells the fleet, in the order in which it happens. */
export interface LinkObserver {
  /** Online now; `sync` is the connection's first event. */
  online(link: ShipLink, sync: SyncEvent): void;
  /** An event of the connection that is current, under the ship's own name. */
  event(link: ShipLink, event: FleetEvent): void;
  offline(link: ShipLink): void;
}

export interface ShipLinkOptions {
  readonly record: ShipRecord;
  readonly dial: Dial;
  readonly clock: Clock;
  readonly log: Log;
  /** Read anew for every attempt to connect. */
  readonly bridgeToken: () => Promise<string | null>;
  readonly observer: LinkObserver;
  /** 0 (inclusive) to 1, for the jitter. */
  readonly random: () => number;
}

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "connecting"; readonly abort: AbortController }
  | { readonly kind: "online"; readonly events: ShipEvents; readonly sinceMs: number }
  | { readonly kind: "waiting"; readonly timer: Disposable }
  | { readonly kind: "stopped" };

/** A connection that lasted this long proves the ship well: the backoff starts over. */
const stableMs = limits.reconnectMaxMs;

/** The wait before attempt `attempt` (from 0): full jitter below a bound that doubles up to its maximum. */
export function backoffMs(attempt: number, random: number): number {
  const boundMs = Math.min(
    limits.reconnectMaxMs,
    limits.reconnectMinMs * 2 ** Math.min(attempt, 16),
  );
  return random * boundMs;
}

export class ShipLink {
  readonly name: ShipName;
  readonly url: string;
  readonly client: Client<ShipApi>;
  #state: State = { kind: "idle" };
  #generation = 0;
  #attempt = 0;
  #token: string | null = null;
  #lastWhy: string | null = null;

  constructor(private readonly options: ShipLinkOptions) {
    this.name = options.record.name;
    this.url = options.record.url;
    this.client = new Client({
      table: shipApi,
      baseUrl: this.url,
      headers: () => this.headers(),
      timeoutMs: limits.shipCallMs,
      replyBytesMax: limits.shipReplyBytesMax,
    });
  }

  get status(): ShipStatus {
    return this.#state.kind === "online" ? "online" : "offline";
  }

  /** Counts connections: what began under an older one has no say over a newer one. */
  get generation(): number {
    return this.#generation;
  }

  /** The headers of a call to this ship, its credential included. */
  headers(): Record<string, string> {
    return shipHeaders(this.#token);
  }

  /** Begins to connect, and to reconnect, until `stop`. */
  start(): void {
    if (this.#state.kind === "idle") this.#connect();
  }

  /** Takes over the connection that probed the ship, instead of `start`. */
  adopt(events: ShipEvents, token: string | null): void {
    if (this.#state.kind !== "idle") throw new Error("a link adopts before it starts");
    this.#token = token;
    this.#goOnline(events);
  }

  /** Drops the connection if it still is the one of `generation`; the link goes offline and reconnects. */
  drop(generation: number, why: string): void {
    if (this.#state.kind !== "online" || generation !== this.#generation) return;
    this.#state.events.terminate();
    this.#lost(why);
  }

  /** Ends the link for good, politely. */
  stop(): void {
    const state = this.#state;
    this.#state = { kind: "stopped" };
    switch (state.kind) {
      case "connecting":
        state.abort.abort(new Error("the link was stopped"));
        return;
      case "online":
        state.events.close(1001, "bridge is done with this ship");
        return;
      case "waiting":
        state.timer[Symbol.dispose]();
        return;
      case "idle":
      case "stopped":
        return;
    }
  }

  #connect(): void {
    const abort = new AbortController();
    this.#state = { kind: "connecting", abort };
    void this.#attemptOnce(abort.signal).then((events) => {
      if (abort.signal.aborted) events.terminate();
      else this.#goOnline(events);
    }).catch((thrown: unknown) => {
      if (!abort.signal.aborted) this.#retry(messageOf(thrown));
    });
  }

  async #attemptOnce(signal: AbortSignal): Promise<ShipEvents> {
    const { dial, clock } = this.options;
    this.#token = await this.options.bridgeToken();
    const events = await openShipEvents({ url: this.url, token: this.#token, dial, clock, signal });
    if (events.sync.ship === this.name) return events;
    events.terminate();
    throw new Error(`it answers as ship ${JSON.stringify(events.sync.ship)}; it was not adopted`);
  }

  #goOnline(events: ShipEvents): void {
    const generation = ++this.#generation;
    this.#state = { kind: "online", events, sinceMs: this.options.clock.monotonicMs() };
    this.#lastWhy = null;
    this.options.log.info("ship online", { ship: this.name });
    this.options.observer.online(this, events.sync);
    events.listen({
      event: (event) => this.#event(generation, event),
      closed: (why) => this.#closed(generation, why),
    });
  }

  #event(generation: number, event: FleetEvent): void {
    if (generation !== this.#generation || this.#state.kind !== "online") return;
    if (event.ship === this.name) this.options.observer.event(this, event);
    else this.drop(generation, "it sent an event under another ship's name");
  }

  #closed(generation: number, why: string): void {
    if (generation === this.#generation && this.#state.kind === "online") this.#lost(why);
  }

  #lost(why: string): void {
    const { clock, observer } = this.options;
    const stable = this.#state.kind === "online" &&
      clock.monotonicMs() - this.#state.sinceMs >= stableMs;
    if (stable) this.#attempt = 0;
    this.#retry(why);
    observer.offline(this);
  }

  #retry(why: string): void {
    const { clock, log, random } = this.options;
    const delayMs = backoffMs(this.#attempt, random());
    this.#attempt += 1;
    // A ship that stays away for the same reason is no news.
    if (why !== this.#lastWhy) log.warn("ship offline", { ship: this.name, why: redactUrl(why) });
    this.#lastWhy = why;
    this.#state = { kind: "waiting", timer: clock.after(delayMs, () => this.#connect()) };
  }
}
