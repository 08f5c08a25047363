/** Tells ships that the armory changed: fire and forget, one push to a ship at a time. */
import type { ShipApi } from "../../shared/api/ship_api.ts";
import { messageOf } from "../../shared/errors.ts";
import type { Client } from "../../shared/http/client.ts";
import type { ShipName } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import type { ShipStatus } from "../../shared/schema/ship.ts";

/** What a push needs of a ship; a `ShipLink` is one. */
export interface PushTarget {
  readonly name: ShipName;
  readonly status: ShipStatus;
  readonly client: Client<ShipApi>;
}

export interface PusherOptions {
  /** The bridge's public URL, asked when a push goes out. */
  readonly bridgeUrl: () => string;
  /** The revision to name; what it throws ends the push. */
  readonly revision: () => Promise<string>;
  readonly log: Log;
}

interface Flight {
  /** What to push to once the push under way has ended, or null: nothing has happened meanwhile. */
  again: PushTarget | null;
}

export class Pusher implements AsyncDisposable {
  readonly #flights = new Map<ShipName, Flight>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(private readonly options: PusherOptions) {}

  /** Begins a push and returns at once; one that is under way is followed by one more. */
  push(target: PushTarget): void {
    if (this.#stopped.signal.aborted) return;
    const flight = this.#flights.get(target.name);
    if (flight !== undefined) {
      flight.again = target;
      return;
    }
    const running = this.#fly(target);
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  /** Gives up what is under way; the ships finish by themselves. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort(new Error("the bridge is shutting down"));
    await Promise.all(this.#running);
  }

  async #fly(first: PushTarget): Promise<void> {
    const flight: Flight = { again: null };
    this.#flights.set(first.name, flight);
    for (let target: PushTarget | null = first; target !== null;) {
      await this.#pushOnce(target);
      target = this.#stopped.signal.aborted ? null : flight.again;
      flight.again = null;
    }
    this.#flights.delete(first.name);
  }

  /** Never rejects: a ship that fails is skipped, and hears of the next change. */
  async #pushOnce({ name, status, client }: PushTarget): Promise<void> {
    if (status !== "online") return;
    const { bridgeUrl, revision, log } = this.options;
    const { signal } = this.#stopped;
    try {
      const body = { bridgeUrl: bridgeUrl(), revision: await revision() };
      const state = await client.call("syncArmory", { body }, {
        timeoutMs: limits.shipArmorySyncMs,
        signal,
      });
      log.info("armory pushed", { ship: name, revision: state.revision });
    } catch (thrown) {
      if (signal.aborted) return;
      log.warn("armory push failed", { ship: name, why: messageOf(thrown) });
    }
  }
}
