/** Requests about one workspace or one ship, forwarded to the ship concerned. */
import { fail } from "../../shared/errors.ts";
import { CallError } from "../../shared/http/client.ts";
import type { ShipName, WorkspaceId } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import type { SystemResources } from "../../shared/schema/ship.ts";
import type { BridgeWorkspaceStatus, WorkspaceStatus } from "../../shared/schema/workspace.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { ShipLink } from "../fleet/ship_link.ts";
import type { EphemeralRecords } from "./ephemeral_records.ts";
import { callShip, meaningOf } from "./ship_call.ts";

/** A diff that has begun to arrive may take this long to be read to its end. */
const diffStreamMs = 5 * 60_000;

const paramsOf = (id: WorkspaceId) => ({ repo: id.repoName, name: id.name });

/**
 * Every method throws `workspaceNotFound`, `hostOffline` and the failures of `callShip`. A signal ends
 * reads only: a switch, a start or a delete under way is never cut short.
 */
export class Forward {
  constructor(private readonly fleet: Fleet, private readonly ephemeral: EphemeralRecords) {}

  /** The workspace as its ship has it now. */
  async status(id: WorkspaceId, signal?: AbortSignal): Promise<BridgeWorkspaceStatus> {
    const link = this.fleet.route(id);
    const status = await callShip(
      link,
      (ship) => ship.call("getWorkspace", { params: paramsOf(id) }, reading(signal)),
    );
    assertAsked(link, id, status);
    return { ...status, ship: link.name, ephemeral: this.ephemeral.of({ ...id, ship: link.name }) };
  }

  /** The diff, streamed; `rawQuery` reaches the ship unchanged. */
  async diff(id: WorkspaceId, rawQuery: string, signal?: AbortSignal): Promise<Response> {
    const link = this.fleet.route(id);
    const { generation } = link;
    const response = await callShip(link, async (ship) => {
      const head = new AbortController();
      const timer = setTimeout(() => head.abort(), limits.shipCallMs);
      const bounded = signal === undefined ? head.signal : AbortSignal.any([head.signal, signal]);
      try {
        const opened = await ship.open("diffWorkspace", { params: paramsOf(id) }, {
          rawQuery,
          signal: bounded,
          timeoutMs: diffStreamMs,
        });
        if (!opened.ok) await ship.read(opened, signal);
        return opened;
      } catch (thrown) {
        if (signal?.aborted || !head.signal.aborted) throw thrown;
        throw new CallError("transport", "timed out", 0);
      } finally {
        clearTimeout(timer);
      }
    });
    const broken = (error: CallError) => void meaningOf(link, generation, error);
    return new Response(response.body === null ? null : watched(response.body, broken, signal), {
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
  }

  async switchBranch(id: WorkspaceId, branch: string): Promise<void> {
    const link = this.fleet.route(id);
    await callShip(
      link,
      (ship) => ship.call("switchBranch", { params: paramsOf(id), body: { branch } }),
    );
  }

  async activate(id: WorkspaceId): Promise<void> {
    const link = this.fleet.route(id);
    await callShip(link, (ship) => ship.call("activateWorkspace", { params: paramsOf(id) }));
  }

  async deactivate(id: WorkspaceId): Promise<void> {
    const link = this.fleet.route(id);
    await callShip(link, (ship) => ship.call("deactivateWorkspace", { params: paramsOf(id) }));
  }

  /** Deletes whatever the workspace holds; with `keepWork`, only when all of it is on a remote. */
  async remove(id: WorkspaceId, options: { readonly keepWork?: boolean } = {}): Promise<void> {
    const link = this.fleet.route(id);
    const query = options.keepWork === true ? { rawQuery: "force=false" } : {};
    await callShip(
      link,
      (ship) =>
        ship.call("deleteWorkspace", { params: paramsOf(id) }, {
          ...query,
          timeoutMs: limits.shipDeleteMs,
        }),
    );
    this.fleet.forget(link, id);
  }

  /** The figures of a ship's host, as the ship gives them. Throws `unknownShip`, `shipOffline` besides. */
  async resources(name: ShipName, signal?: AbortSignal): Promise<SystemResources> {
    const link = this.fleet.link(name);
    if (link === null) throw fail("unknownShip", { ship: name });
    if (link.status !== "online") throw fail("shipOffline", { ship: name });
    return await resourcesOf(link, signal);
  }
}

/** The figures of an online ship's host. */
export async function resourcesOf(link: ShipLink, signal?: AbortSignal): Promise<SystemResources> {
  return await callShip(
    link,
    (ship) => ship.call("systemResources", {}, { ...reading(signal), unchanged: true }),
  );
}

const reading = (signal: AbortSignal | undefined) => signal === undefined ? {} : { signal };

function assertAsked(link: ShipLink, id: WorkspaceId, status: WorkspaceStatus): void {
  const right = status.repoName === id.repoName && status.name === id.name &&
    (status.state === "inactive" || status.ship === link.name);
  if (right) return;
  throw fail("shipAnswerInvalid", { ship: link.name, what: "a workspace that was not asked for" });
}

/** `body`, with `broken` called when it fails other than by `signal`. */
function watched(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  broken: (error: CallError) => void,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (thrown) {
        if (!signal?.aborted) broken(new CallError("transport", "the diff broke off", 0));
        controller.error(thrown);
      }
    },
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  }, { highWaterMark: 0 });
}
