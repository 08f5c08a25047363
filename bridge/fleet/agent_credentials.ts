/** Gives each ship that connects what its agents' repo tools call the bridge with, and takes it back. */
import { messageOf } from "../../shared/errors.ts";
import type { ShipName } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import { callShip } from "../routing/ship_call.ts";
import type { Fleet } from "./fleet.ts";
import type { ShipLink } from "./ship_link.ts";

export interface AgentCredentialPushOptions {
  readonly fleet: Pick<Fleet, "arrivals" | "departures" | "link" | "links">;
  readonly tokens: {
    mint(ship: ShipName): Promise<string>;
    confirm(ship: ShipName, token: string): Promise<void>;
    revoke(ship: ShipName): Promise<void>;
  };
  /** Where ships find the bridge; asked at each push. */
  readonly bridgeUrl: () => string;
  readonly log: Log;
}

/** A ship that cannot be given its token is logged, and gets one when it connects again. */
export class AgentCredentialPush implements AsyncDisposable {
  readonly #subscriptions: Disposable[] = [];
  /** What is under way per ship, one after the other: the token confirmed last is the one that it holds. */
  readonly #turns = new Map<ShipName, Promise<void>>();

  constructor(private readonly options: AgentCredentialPushOptions) {}

  /** Begins with the ships that are online already. */
  start(): void {
    const { fleet } = this.options;
    for (const link of fleet.links()) this.#then(link.name, () => this.#push(link));
    this.#subscriptions.push(
      fleet.arrivals.subscribe((link) => this.#then(link.name, () => this.#push(link))),
      fleet.departures.subscribe((name) => this.#then(name, () => this.#revoke(name))),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await Promise.all(this.#turns.values());
  }

  async #push(link: ShipLink): Promise<void> {
    const { fleet, tokens, bridgeUrl } = this.options;
    // It went or was removed while it waited for its turn.
    if (fleet.link(link.name) !== link || link.status !== "online") return;
    const token = await tokens.mint(link.name);
    const body = { bridgeUrl: bridgeUrl(), token };
    await callShip(link, (ship) => ship.call("agentCredentials", { body }));
    await tokens.confirm(link.name, token);
  }

  async #revoke(name: ShipName): Promise<void> {
    if (this.options.fleet.link(name) === null) await this.options.tokens.revoke(name);
  }

  #then(name: ShipName, work: () => Promise<void>): void {
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(work).catch(
      (thrown: unknown) =>
        this.options.log.warn("could not hand a ship its agent token", {
          ship: name,
          why: messageOf(thrown),
        }),
    ).finally(() => {
      if (this.#turns.get(name) === turn) this.#turns.delete(name);
    });
    this.#turns.set(name, turn);
  }
}
