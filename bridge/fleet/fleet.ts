/** The fleet: the roster, a link to each ship, and the index of what they host. */
import { join } from "node:path";
import { isAddress, isLinkLocal } from "../../shared/address_policy.ts";
import type { Clock } from "../../shared/clock.ts";
import { fail, messageOf } from "../../shared/errors.ts";
import { EventHub } from "../../shared/event_hub.ts";
import type { Resolve } from "../../shared/host/resolve.ts";
import { Semaphore } from "../../shared/host/semaphore.ts";
import type { ShipName, WorkspaceId } from "../../shared/ids.ts";
import { type Log, redactUrl } from "../../shared/log.ts";
import type { FleetEvent, WorkspaceEventType } from "../../shared/schema/event.ts";
import type { RegisterShip, ShipInfo } from "../../shared/schema/ship.ts";
import type { ShipCredentials, ShipTokens } from "./credentials.ts";
import { type OwnedWorkspace, Ownership } from "./ownership.ts";
import { Roster } from "./roster.ts";
import { type Dial, openShipEvents, type ShipEvents, ShipEventsError } from "./ship_events.ts";
import { ShipLink } from "./ship_link.ts";

export interface FleetOptions {
  /** Absolute; holds `ships.json`. */
  readonly dataDirectory: string;
  readonly dial: Dial;
  readonly resolve: Resolve;
  readonly allowLinkLocal: boolean;
  readonly credentials: ShipCredentials;
  readonly clock: Clock;
  readonly log: Log;
  /** For the jitter of reconnects. */
  readonly random?: () => number;
}

/** What subscribers of the fleet hear: one workspace changed, or anything may have. */
export type FleetChange =
  | {
    readonly kind: "workspace";
    readonly type: Exclude<WorkspaceEventType, "workspace.removed">;
    readonly workspace: OwnedWorkspace;
    /** ISO 8601, as the ship gave it. */
    readonly at: string;
  }
  | { readonly kind: "all" };

/** Registrations waiting for their turn at the roster. */
const rosterQueueMax = 64;

export class Fleet implements AsyncDisposable {
  readonly changes = new EventHub<FleetChange>();
  /** A ship that has become online, registration included. */
  readonly arrivals = new EventHub<ShipLink>();
  /** A ship that has left the roster. */
  readonly departures = new EventHub<ShipName>();
  readonly ownership: Ownership;
  readonly #roster: Roster;
  readonly #links = new Map<ShipName, ShipLink>();
  readonly #rosterTurn = new Semaphore(1, rosterQueueMax);
  readonly #stopped = new AbortController();

  constructor(private readonly options: FleetOptions) {
    this.#roster = new Roster(join(options.dataDirectory, "ships.json"));
    this.ownership = new Ownership((ship) => this.#links.get(ship)?.status === "online");
  }

  /** Reads the roster and begins to connect; waits for no ship. Throws `StoredFileError`. */
  async start(): Promise<void> {
    await this.#roster.load();
    for (const record of this.#roster.ships) {
      const link = this.#link(record.name, record.url);
      this.#links.set(link.name, link);
      link.start();
    }
  }

  /** Ends every connection. Calls to ships under way end by their own bounds. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort(new Error("the bridge is shutting down"));
    using _turn = await this.#rosterTurn.acquire();
    for (const link of this.#links.values()) link.stop();
    this.#links.clear();
  }

  /** The roster, by name. */
  list(): ShipInfo[] {
    return this.#roster.ships.map((ship) => ({
      ...ship,
      status: this.#links.get(ship.name)?.status ?? "offline",
    }));
  }

  /** Every ship's link, by name. */
  links(): ShipLink[] {
    return this.#roster.ships.flatMap(({ name }) => this.#links.get(name) ?? []);
  }

  /** The link of a registered ship, or null. */
  link(name: ShipName): ShipLink | null {
    return this.#links.get(name) ?? null;
  }

  /** The online link of the ship that owns the workspace. Throws `workspaceNotFound`, `hostOffline`. */
  route(id: WorkspaceId): ShipLink {
    const ship = this.ownership.ownerOf(id);
    const link = ship === null ? undefined : this.#links.get(ship);
    if (link === undefined) throw fail("workspaceNotFound", id);
    if (link.status !== "online") throw fail("hostOffline", { ...id, ship: link.name });
    return link;
  }

  /**
   * Adds the ship that answers at `url` and keeps the connection that found it. Throws `oneTokenOnly`,
   * `shipUrlRefused`, `shipDidNotRespond`, `shipAlreadyRegistered`, `shipWorkspacesHostedElsewhere`,
   * `storageFailed`.
   */
  async register({ url, bridgeToken, shipToken }: RegisterShip): Promise<ShipInfo> {
    const tokens = tokenPair(bridgeToken, shipToken);
    await this.#assertAddressAllowed(url);
    const events = await this.#probe(url, tokens?.bridgeToken ?? null);
    try {
      return await this.#adopt(url, tokens, events);
    } catch (thrown) {
      events.close(1000, "not registered");
      throw thrown;
    }
  }

  /** Takes a ship off the roster. Throws `shipNotFound`, `storageFailed`. */
  async remove(name: ShipName): Promise<void> {
    using _turn = await this.#acquireRoster();
    const link = this.#links.get(name);
    if (link === undefined) throw fail("shipNotFound", { name });
    await this.#roster.remove(name);
    this.#links.delete(name);
    link.stop();
    this.ownership.removeShip(name);
    this.changes.publish({ kind: "all" });
    this.departures.publish(name);
    await this.options.credentials.remove(name).catch((thrown: unknown) => {
      // The ship is off the roster, which is what was asked; a later registration replaces the tokens.
      this.options.log.error("could not remove the ship's credentials", {
        ship: name,
        why: messageOf(thrown),
      });
    });
  }

  /** A workspace is known to be gone, before its ship's event says so. */
  forget(link: ShipLink, id: WorkspaceId): void {
    if (!this.#isCurrent(link)) return;
    if (this.ownership.forget(link.name, id)) this.changes.publish({ kind: "all" });
  }

  async #assertAddressAllowed(url: string): Promise<void> {
    if (this.options.allowLinkLocal) return;
    const { hostname } = new URL(url);
    const addresses = isAddress(hostname) ? [hostname] : await this.options.resolve(hostname);
    if (addresses.some(isLinkLocal)) {
      throw fail("shipUrlRefused", {
        why: "link-local addresses are not allowed; start the bridge with --allow-link-local if " +
          "the ship really is there",
      });
    }
  }

  async #probe(url: string, token: string | null): Promise<ShipEvents> {
    const { dial, clock } = this.options;
    try {
      return await openShipEvents({ url, token, dial, clock, signal: this.#stopped.signal });
    } catch (thrown) {
      if (!(thrown instanceof ShipEventsError)) throw thrown;
      throw fail("shipDidNotRespond", { url: redactUrl(url), message: thrown.message });
    }
  }

  async #adopt(url: string, tokens: ShipTokens | null, events: ShipEvents): Promise<ShipInfo> {
    const { credentials } = this.options;
    const { ship: name, workspaces } = events.sync;
    using _turn = await this.#acquireRoster();
    this.#stopped.signal.throwIfAborted();
    if (this.#roster.has(name)) throw fail("shipAlreadyRegistered", { name });
    const keys = this.ownership.heldElsewhere(name, workspaces);
    if (keys.length > 0) throw fail("shipWorkspacesHostedElsewhere", { name, keys });
    await credentials.save(name, tokens);
    try {
      await this.#roster.add({ name, url });
    } catch (thrown) {
      await credentials.remove(name);
      throw thrown;
    }
    const link = this.#link(name, url);
    this.#links.set(name, link);
    link.adopt(events, tokens?.bridgeToken ?? null);
    return { name, url, status: link.status };
  }

  async #acquireRoster(): Promise<Disposable> {
    const turn = await this.#rosterTurn.acquire();
    if (turn === null) throw fail("tooBusy", { what: "changes of the roster" });
    return turn;
  }

  #link(name: ShipName, url: string): ShipLink {
    const { dial, clock, log, credentials } = this.options;
    return new ShipLink({
      record: { name, url },
      dial,
      clock,
      log,
      bridgeToken: () => credentials.bridgeToken(name),
      random: this.options.random ?? Math.random,
      observer: {
        online: (link, sync) => this.#online(link, sync),
        event: (link, event) => this.#event(link, event),
        offline: () => {},
      },
    });
  }

  #isCurrent(link: ShipLink): boolean {
    return this.#links.get(link.name) === link;
  }

  #online(link: ShipLink, sync: Extract<FleetEvent, { type: "sync" }>): void {
    if (!this.#isCurrent(link)) return;
    this.#sync(link, sync);
    this.arrivals.publish(link);
  }

  #event(link: ShipLink, event: FleetEvent): void {
    if (!this.#isCurrent(link)) return;
    switch (event.type) {
      case "sync":
        return this.#sync(link, event);
      case "workspace.removed":
        if (this.ownership.forget(link.name, event.workspace)) {
          this.changes.publish({ kind: "all" });
        }
        return;
      default: {
        // What another ship owns is not this ship's to speak of.
        if (!this.ownership.report(link.name, event.workspace)) return;
        const workspace = { ...event.workspace, ship: link.name };
        this.changes.publish({ kind: "workspace", type: event.type, workspace, at: event.at });
      }
    }
  }

  #sync(link: ShipLink, { workspaces }: Extract<FleetEvent, { type: "sync" }>): void {
    const elsewhere = this.ownership.heldElsewhere(link.name, workspaces);
    if (elsewhere.length > 0) {
      const keys = elsewhere.slice(0, 10).join(", ");
      this.options.log.warn("ship reports workspaces that another ship owns", {
        ship: link.name,
        keys,
        count: elsewhere.length,
      });
    }
    this.ownership.sync(link.name, workspaces);
    this.changes.publish({ kind: "all" });
  }
}

function tokenPair(bridgeToken?: string, shipToken?: string): ShipTokens | null {
  if (bridgeToken !== undefined && shipToken !== undefined) return { bridgeToken, shipToken };
  if (bridgeToken === undefined && shipToken === undefined) return null;
  throw fail("oneTokenOnly");
}
