/** A workspace's terminal: the client's socket, piped to the owning ship's. */
import { shipApi } from "../../shared/api/ship_api.ts";
import { messageOf } from "../../shared/errors.ts";
import { fillPath } from "../../shared/http/client.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { type WorkspaceId, workspaceKey } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Dial } from "../fleet/ship_events.ts";
import { tunnel } from "./tunnel.ts";

export interface TerminalRouteOptions {
  readonly fleet: Fleet;
  readonly dial: Dial;
  readonly log: Log;
}

const openMs = 10_000;

export class TerminalRoute {
  constructor(private readonly options: TerminalRouteOptions) {}

  /** Serves `client` until either side ends. An unknown or offline workspace is `exit` 1. */
  async serve(client: Socket, id: WorkspaceId): Promise<void> {
    await tunnel(client, (signal) => this.#dial(id, signal));
  }

  async #dial(id: WorkspaceId, signal: AbortSignal): Promise<Socket> {
    const { fleet, dial, log } = this.options;
    try {
      const link = fleet.route(id);
      const path = fillPath(shipApi.terminal.path, { repo: id.repoName, name: id.name });
      return await dial(link.url.replace(/^http/, "ws") + path, {
        headers: link.headers(),
        openTimeoutMs: openMs,
        payloadBytesMax: limits.terminalPayloadBytesMax,
        compress: true,
        heartbeatMs: limits.heartbeatMs,
        signal,
      });
    } catch (thrown) {
      log.info("no terminal", { workspace: workspaceKey(id), why: messageOf(thrown) });
      throw thrown;
    }
  }
}
