/** The bridge's routes about ships, repos and workspaces: a line per endpoint, from call to what does the work. */
import type { BridgeApi } from "../shared/api/bridge_api.ts";
import type { ForgeApi } from "../shared/api/forge_api.ts";
import { eventStreamResponse, wantsEventStream } from "../shared/http/event_stream.ts";
import type { Call, Handlers } from "../shared/http/router.ts";
import type { Socket } from "../shared/http/socket.ts";
import { rawQuery } from "../shared/http/target.ts";
import type { RepoName, WorkspaceId, WorkspaceName } from "../shared/ids.ts";
import { limits } from "../shared/limits.ts";
import { ok } from "../shared/schema/common.ts";
import { activeFilter } from "../shared/schema/query.ts";
import type { BridgeEvents } from "./events.ts";
import type { Sweeper } from "./ephemeral/sweeper.ts";
import type { Branches } from "./fleet/branches.ts";
import type { Fleet } from "./fleet/fleet.ts";
import { type Repos, shownRepo } from "./fleet/repos.ts";
import type { Providers } from "./provider/providers.ts";
import { forgeHandlers } from "./provider/routes.ts";
import type { Creator } from "./routing/create.ts";
import type { Forward } from "./routing/forward.ts";
import type { TerminalRoute } from "./routing/terminal.ts";
import type { Merged } from "./routing/merged.ts";

export interface FleetRouteDeps<Principal> {
  readonly fleet: Fleet;
  readonly repos: Repos;
  readonly branches: Branches;
  readonly forward: Forward;
  readonly merged: Merged;
  readonly creator: Creator;
  readonly providers: Providers;
  readonly sweeper: Sweeper;
  readonly events: BridgeEvents;
  readonly terminal: TerminalRoute;
  /** Sees every socket that opens, and closes it when whoever opened it may no longer. */
  readonly watch: (principal: Principal, socket: Socket) => void;
}

/** The routes of the table that are answered here. */
export type FleetRoute =
  | keyof ForgeApi
  | "sweep"
  | "listShips"
  | "registerShip"
  | "removeShip"
  | "shipResources"
  | "allResources"
  | "listRepos"
  | "createRepo"
  | "removeRepo"
  | "listBranches"
  | "listWorkspaces"
  | "createWorkspace"
  | "getWorkspace"
  | "deleteWorkspace"
  | "diffWorkspace"
  | "switchBranch"
  | "activateWorkspace"
  | "deactivateWorkspace"
  | "terminal"
  | "events";

/** Handlers that ask nothing of who calls: the gate has let them through. */
export function bridgeHandlers<Principal>(
  deps: FleetRouteDeps<Principal>,
): Pick<Handlers<BridgeApi, Principal>, FleetRoute> {
  const { fleet, repos, branches, forward, merged, events } = deps;
  return {
    listShips: () => fleet.list(),
    registerShip: ({ body }) => fleet.register(body),
    removeShip: ({ params }) => fleet.remove(params.name).then(() => ok),
    shipResources: ({ params, request }) => forward.resources(params.ship, request.signal),
    allResources: () => merged.resources(),
    listRepos: () => repos.all.map(shownRepo),
    createRepo: ({ body }) => repos.create(body).then(shownRepo),
    removeRepo: ({ params }) => repos.remove(params.name).then(() => ok),
    listBranches: ({ params, request }) => branches.list(repos.get(params.name), request.signal),
    ...forgeHandlers({
      providers: deps.providers,
      repo: (name) => repos.get(name),
      shown: shownRepo,
    }),
    sweep: () => deps.sweeper.sweep(),
    listWorkspaces: ({ query }) => merged.workspaces(activeFilter(query.active)),
    createWorkspace: (call) => create(deps.creator, call),
    getWorkspace: ({ params, request }) => forward.status(idOf(params), request.signal),
    deleteWorkspace: ({ params }) => forward.remove(idOf(params)).then(() => ok),
    diffWorkspace: ({ params, request, connection }) =>
      forward.diff(idOf(params), rawQuery(connection.rawTarget), request.signal),
    switchBranch: ({ params, body }) =>
      forward.switchBranch(idOf(params), body.branch).then(() => ok),
    activateWorkspace: ({ params }) => forward.activate(idOf(params)).then(() => ok),
    deactivateWorkspace: ({ params }) => forward.deactivate(idOf(params)).then(() => ok),
    terminal: ({ params, connection, request, principal }) =>
      connection.upgrade(request, {
        onSocket: (socket) => {
          deps.watch(principal, socket);
          void deps.terminal.serve(socket, idOf(params));
        },
        compress: true,
        payloadBytesMax: limits.terminalPayloadBytesMax,
        heartbeatMs: limits.heartbeatMs,
      }),
    events: ({ connection, request, principal }) =>
      connection.upgrade(request, {
        onSocket: (socket) => {
          deps.watch(principal, socket);
          events.attach(socket);
        },
        compress: true,
        payloadBytesMax: limits.requestBodyBytesMax,
        heartbeatMs: limits.heartbeatMs,
      }),
  };
}

const idOf = (params: { readonly repo: RepoName; readonly name: WorkspaceName }): WorkspaceId => ({
  repoName: params.repo,
  name: params.name,
});

/** The name is reserved before the answer begins, so a refusal has its own status in either form. */
async function create<Principal>(
  creator: Creator,
  { body, request }: Call<BridgeApi["createWorkspace"], Principal>,
) {
  const prepared = creator.prepare(body);
  if (!wantsEventStream(request)) return await prepared.run();
  return eventStreamResponse(async (emit) => ({ status: 201, body: await prepared.run(emit) }));
}
