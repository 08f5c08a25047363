/** Views over every ship. They leave out what a ship does not answer, and never fail because of one. */
import { messageOf } from "../../shared/errors.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import type { ShipSystemResources } from "../../shared/schema/ship.ts";
import type { BridgeWorkspaceSummary } from "../../shared/schema/workspace.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { ShipLink } from "../fleet/ship_link.ts";
import { bridgeSummary, type EphemeralRecords } from "./ephemeral_records.ts";
import { resourcesOf } from "./forward.ts";
import { callShip } from "./ship_call.ts";

export class Merged {
  constructor(
    private readonly fleet: Fleet,
    private readonly ephemeral: EphemeralRecords,
    private readonly log: Log,
  ) {}

  /**
   * The workspaces of the fleet after asking every online ship anew, `limits.shipListMs` for each at most;
   * of the others, what was last known. `active` filters unless null.
   */
  async workspaces(active: boolean | null): Promise<BridgeWorkspaceSummary[]> {
    const online = this.fleet.links().filter(({ status }) => status === "online");
    const changed = await Promise.all(online.map((link) => this.#refresh(link)));
    if (changed.includes(true)) this.fleet.changes.publish({ kind: "all" });
    return this.known().filter((row) => active === null || row.active === active);
  }

  /** The workspaces of the fleet as the index has them. */
  known(): BridgeWorkspaceSummary[] {
    return this.fleet.ownership.list().map((row) => bridgeSummary(row, this.ephemeral));
  }

  /** The figures of every host, by ship. */
  async resources(): Promise<ShipSystemResources[]> {
    return await Promise.all(
      this.fleet.links().map(async (link) => {
        const { name: ship, status } = link;
        if (status === "offline") return { ship, status, resources: null, error: null };
        try {
          return { ship, status, resources: await resourcesOf(link), error: null };
        } catch (thrown) {
          return { ship, status, resources: null, error: messageOf(thrown) };
        }
      }),
    );
  }

  /** True when the index changed. */
  async #refresh(link: ShipLink): Promise<boolean> {
    using survey = this.fleet.ownership.survey(link.name);
    try {
      const rows = await callShip(
        link,
        (ship) => ship.call("listWorkspaces", {}, { timeoutMs: limits.shipListMs }),
      );
      return this.fleet.link(link.name) === link && survey.apply(rows);
    } catch (thrown) {
      this.log.warn("could not list a ship's workspaces", {
        ship: link.name,
        why: messageOf(thrown),
      });
      return false;
    }
  }
}
