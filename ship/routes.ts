/** The ship's routes: one line per endpoint, from the parsed call to what does the work. */
import type { ShipApi } from "../shared/api/ship_api.ts";
import type { WorkspaceId } from "../shared/ids.ts";
import type { AgentCredentials } from "../shared/schema/agent.ts";
import { ok } from "../shared/schema/common.ts";
import { activeFilter } from "../shared/schema/query.ts";
import { eventStreamResponse, wantsEventStream } from "../shared/http/event_stream.ts";
import type { Call, Handlers } from "../shared/http/router.ts";
import type { Socket } from "../shared/http/socket.ts";
import { limits } from "../shared/limits.ts";
import type { SystemResources } from "../shared/schema/ship.ts";
import type { ShipArmory } from "./armory/armory.ts";
import type { ShipPrincipal } from "./gate.ts";
import type { Workspaces } from "./workspace/workspaces.ts";

export interface ShipRouteDeps {
  readonly workspaces: Workspaces;
  readonly armory: ShipArmory;
  readonly mcp: (id: WorkspaceId, request: Request) => Promise<Response>;
  /** Takes over what a bridge pushed. Throws `bridgeUrlNotHttp`, `bridgeUrlInvalid`. */
  readonly takeAgentCredentials: (credentials: AgentCredentials) => void;
  readonly resources: () => Promise<SystemResources>;
  readonly serveEvents: (socket: Socket) => void;
  readonly serveTerminal: (socket: Socket, id: WorkspaceId) => void;
}

type ShipCall<Name extends keyof ShipApi> = Call<ShipApi[Name], ShipPrincipal>;

export function shipHandlers(deps: ShipRouteDeps): Handlers<ShipApi, ShipPrincipal> {
  const { workspaces, armory } = deps;
  const mcp = async (call: ShipCall<"mcpGet" | "mcpPost" | "mcpDelete">) => {
    await workspaces.assertExists(idOf(call));
    return await deps.mcp(idOf(call), call.request);
  };
  return {
    listWorkspaces: ({ query }) => workspaces.list(activeFilter(query.active)),
    createWorkspace: (call) => create(workspaces, call),
    getWorkspace: (call) => workspaces.get(idOf(call)),
    deleteWorkspace: (call) => workspaces.remove(idOf(call), call.query.force).then(() => ok),
    diffWorkspace: (call) => diff(workspaces, call),
    switchBranch: (call) => workspaces.switchBranch(idOf(call), call.body.branch).then(() => ok),
    activateWorkspace: (call) => workspaces.activate(idOf(call)).then(() => ok),
    deactivateWorkspace: (call) => workspaces.deactivate(idOf(call)).then(() => ok),
    mcpGet: mcp,
    mcpPost: mcp,
    mcpDelete: mcp,
    armoryState: () => armory.state,
    syncArmory: ({ body }) => armory.sync(body),
    terminal: (call) =>
      call.connection.upgrade(call.request, {
        onSocket: (socket) => deps.serveTerminal(socket, idOf(call)),
        compress: true,
        payloadBytesMax: limits.terminalPayloadBytesMax,
        heartbeatMs: limits.heartbeatMs,
      }),
    agentCredentials: ({ body }) => {
      deps.takeAgentCredentials(body);
      return ok;
    },
    systemResources: () => deps.resources(),
    events: ({ connection, request }) =>
      connection.upgrade(request, {
        onSocket: deps.serveEvents,
        compress: true,
        payloadBytesMax: limits.requestBodyBytesMax,
        heartbeatMs: limits.heartbeatMs,
      }),
  };
}

function idOf(
  { params }: {
    readonly params: { readonly repo: WorkspaceId["repoName"]; readonly name: WorkspaceId["name"] };
  },
): WorkspaceId {
  return { repoName: params.repo, name: params.name };
}

function create(workspaces: Workspaces, { body, request }: ShipCall<"createWorkspace">) {
  if (!wantsEventStream(request)) return workspaces.create(body);
  return eventStreamResponse(async (emit) => ({
    status: 201,
    body: await workspaces.create(body, (progress) => emit("progress", progress)),
  }));
}

async function diff(workspaces: Workspaces, call: ShipCall<"diffWorkspace">): Promise<Response> {
  const text = await workspaces.diff(idOf(call), call.query, call.request.signal);
  return new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
}
