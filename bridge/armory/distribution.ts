/** Keeps every ship's armory up to date: pushes on each change and to each ship that comes online. */
import type { Clock } from "../../shared/clock.ts";
import { messageOf } from "../../shared/errors.ts";
import type { EventHub } from "../../shared/event_hub.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import type { ShipArmoryState } from "../../shared/schema/armory.ts";
import { Pusher, type PushTarget } from "./push.ts";
import type { Armory } from "./serve.ts";
import { ArmoryWatch } from "./watch.ts";

/** The ships as the armory sees them; the fleet is one. */
export interface ArmoryFleet {
  readonly arrivals: Pick<EventHub<PushTarget>, "subscribe">;
  links(): readonly PushTarget[];
}

export interface DistributionOptions {
  readonly armory: Armory;
  readonly fleet: ArmoryFleet;
  readonly bridgeUrl: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

export class ArmoryDistribution implements AsyncDisposable {
  readonly #owned = new AsyncDisposableStack();
  readonly #pusher: Pusher;
  readonly #watch: ArmoryWatch;
  /** Of the last manifest seen; null before the first, and while the armory is broken. */
  #revision: string | null = null;
  #looking: Promise<void> = Promise.resolve();

  constructor(private readonly options: DistributionOptions) {
    const { armory, bridgeUrl, clock, log } = options;
    this.#pusher = new Pusher({
      bridgeUrl,
      log,
      revision: async () => this.#revision ?? (await armory.manifest()).revision,
    });
    this.#watch = new ArmoryWatch({
      directory: armory.directory,
      clock,
      log,
      onChange: () => this.#looking = this.#look(),
    });
  }

  /** Begins to watch and to push. Call it when the bridge answers: ships pull at once. */
  start(): void {
    const { fleet } = this.options;
    this.#owned.defer(() => this.#looking);
    this.#owned.use(this.#pusher);
    this.#owned.use(this.#watch);
    this.#watch.start();
    this.#owned.use(fleet.arrivals.subscribe((link) => this.#pusher.push(link)));
    for (const link of fleet.links()) this.#pusher.push(link);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  /** What each ship says of its armory; null for one that is offline or does not answer. */
  async states(): Promise<ShipArmoryState[]> {
    return await Promise.all(
      this.options.fleet.links().map(async ({ name: ship, status, client }) => {
        if (status === "offline") return { ship, status, state: null };
        const state = await client.call("armoryState", {}, { timeoutMs: limits.shipListMs })
          .catch((thrown: unknown) => {
            const why = messageOf(thrown);
            this.options.log.warn("a ship did not tell its armory's state", { ship, why });
            return null;
          });
        return { ship, status, state };
      }),
    );
  }

  /** After a change on disk: pushes when it made a difference. */
  async #look(): Promise<void> {
    const { armory, fleet, log } = this.options;
    try {
      const { revision } = await armory.manifest();
      if (revision === this.#revision) return;
      this.#revision = revision;
    } catch (thrown) {
      this.#revision = null;
      log.error("the armory cannot be served: ships keep what they have", {
        why: messageOf(thrown),
      });
      return;
    }
    for (const link of fleet.links()) this.#pusher.push(link);
  }
}
