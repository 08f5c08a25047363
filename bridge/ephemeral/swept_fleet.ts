/** The fleet as cleaning up sees it. */
import { fail, Failure } from "../../shared/errors.ts";
import { CallError } from "../../shared/http/client.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Forward } from "../routing/forward.ts";
import { callShip } from "../routing/ship_call.ts";
import type { SweptFleet } from "./sweeper.ts";

/** The index says what is where; where it names another owner or none, the ship itself is asked. */
export function sweptFleet(fleet: Fleet, forward: Forward): SweptFleet {
  return {
    async presence(ship, id, signal) {
      const link = fleet.link(ship);
      if (link === null || link.status !== "online") return "unknown";
      if (fleet.ownership.ownerOf(id) === ship) return "present";
      try {
        const params = { repo: id.repoName, name: id.name };
        await callShip(link, (client) => client.call("getWorkspace", { params }, { signal }));
        // It is there, but requests for its name go to another ship: not to be touched.
        return "unknown";
      } catch (thrown) {
        if (!(thrown instanceof Failure) && !(thrown instanceof CallError)) throw thrown;
        return thrown.status === 404 ? "gone" : "unknown";
      }
    },
    removeKeepingWork(ship, id) {
      // Routing goes by owner, and that may have changed since it was judged.
      if (fleet.ownership.ownerOf(id) !== ship) {
        throw fail("workspaceBusy", { ...id, doing: "move" });
      }
      return forward.remove(id, { keepWork: true });
    },
    changed: () => fleet.changes.publish({ kind: "all" }),
  };
}
