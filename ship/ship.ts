/**
 * The ship, put together: the only place that knows all of its parts. `startShip` opens the port, writes
 * `atlas.json` and serves until the returned handle is disposed.
 */
import { join } from "node:path";
import { shipApi } from "../shared/api/ship_api.ts";
import { systemClock } from "../shared/clock.ts";
import { EventHub } from "../shared/event_hub.ts";
import type { CloneProtocol } from "../shared/git/url.ts";
import { CommandLane } from "../shared/host/command.ts";
import { writeAtomically } from "../shared/host/files.ts";
import { listen } from "../shared/host/listen.ts";
import { lockDirectory } from "../shared/host/lock.ts";
import { resolveHost } from "../shared/host/resolve.ts";
import type { RunningDaemon } from "../shared/host/run_daemon.ts";
import { browserRules } from "../shared/http/browser_guard.ts";
import { router } from "../shared/http/router.ts";
import type { WorkspaceId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import { version } from "../shared/version.ts";
import { BridgeAccess } from "./agent/bridge_access.ts";
import { McpEndpoint } from "./agent/mcp.ts";
import { AgentMemory } from "./agent/memory.ts";
import { repoTools } from "./agent/repo_tools.ts";
import { AgentTokens } from "./agent/tokens.ts";
import { agentTools } from "./agent/tools.ts";
import { ShipArmory } from "./armory/armory.ts";
import type { ShipConfig } from "./config.ts";
import { serveEvents } from "./events.ts";
import { shipGate } from "./gate.ts";
import { createGitLanes, Git } from "./git/git.ts";
import { systemResources } from "./resources.ts";
import { shipHandlers } from "./routes.ts";
import type { Socket } from "../shared/http/socket.ts";
import { reportingCommand } from "./terminal/tmux_client.ts";
import { Terminals } from "./terminal/terminals.ts";
import { socketNameDefault } from "./tmux/names.ts";
import { TmuxSessions } from "./tmux/tmux.ts";
import { moverPrograms } from "./workspace/anchored_move.ts";
import type { WorkspaceEvent } from "./workspace/ports.ts";
import { Workspaces } from "./workspace/workspaces.ts";

/** Absolute paths of the programs that a ship runs. */
export interface ShipPrograms {
  readonly git: string;
  readonly tmux: string;
  readonly timeout: string;
  readonly ln: string;
  readonly script: string;
  readonly stty: string;
}

/** The name of the file by which an agent in a workspace finds its ship. */
export const atlasFileName = "atlas.json";

const moveConcurrencyMax = 4;
const moveQueueMax = 256;
/** Two programs for each terminal, and its short calls. */
const terminalConcurrencyMax = 1024;
const terminalQueueMax = 256;
const tmuxConcurrencyMax = 4;
const tmuxQueueMax = 256;

/** Starts the ship. Throws when its directory is taken or its port cannot be bound. */
export async function startShip(
  config: ShipConfig,
  programs: ShipPrograms,
  log: Log,
): Promise<RunningDaemon> {
  await using stack = new AsyncDisposableStack();
  await Deno.mkdir(config.gridDirectory, { recursive: true });
  const gridDirectory = await Deno.realPath(config.gridDirectory);
  stack.use(await lockDirectory(gridDirectory, ".grid-lock", "a ship"));

  let port = config.port;
  const parts = assemble({ ...config, gridDirectory }, programs, log, () => port);
  stack.use(parts.mcp);
  stack.use(parts.armory);
  stack.use(parts.terminals);
  await parts.workspaces.start();
  await parts.armory.start();
  const listener = await listen({
    hostname: config.hostname,
    port: config.port,
    fetch: parts.fetch,
  });
  stack.defer(() => listener.shutdown());
  port = listener.port;
  await writeAtomically(join(gridDirectory, atlasFileName), `${JSON.stringify({ port })}\n`);
  warnWhenOpen(config, log);

  const owned = stack.move();
  return { url: listener.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Builds the parts; nothing is touched. `port` is asked once the ship listens. */
function assemble(config: ShipConfig, programs: ShipPrograms, log: Log, port: () => number) {
  const { name, gridDirectory, environment } = config;
  const clock = systemClock;
  const hub = new EventHub<WorkspaceEvent>();
  const memory = new AgentMemory();
  const tokens = new AgentTokens();
  const bridgeAccess = new BridgeAccess();
  const lane = { timeoutPath: programs.timeout, environment };
  const sessions = new TmuxSessions({
    lane: new CommandLane({
      ...lane,
      programs: { tmux: programs.tmux },
      concurrencyMax: tmuxConcurrencyMax,
      queueMax: tmuxQueueMax,
    }),
    shell: config.shell,
    // Wrapped, so that whoever is attached learns how the session ended.
    sessionCommand: reportingCommand(
      config.sessionCommand ?? `exec ${shellWord(config.shell)} -l`,
      programs.tmux,
    ),
  });
  const workspaces = new Workspaces({
    gridDirectory,
    shipName: name,
    git: new Git({
      lanes: createGitLanes({ ...lane, programs: { git: programs.git } }),
      protocols: config.cloneProtocols as readonly CloneProtocol[],
    }),
    moveLane: new CommandLane({
      ...lane,
      programs: moverPrograms,
      concurrencyMax: moveConcurrencyMax,
      queueMax: moveQueueMax,
    }),
    sessions,
    agents: memory,
    tokens,
    events: hub,
    mcpUrl: (id) => mcpUrl(config.hostname, port(), id),
    clock,
    log,
  });
  const armory = new ShipArmory({
    stateDirectory: config.stateDirectory,
    places: config.places,
    bridgeUrl: config.bridgeUrl,
    shipToken: config.shipToken,
    authenticated: config.bridgeToken !== null,
    lane,
    lnPath: programs.ln,
    resolve: resolveHost,
    clock,
    log,
  });
  const terminals = new Terminals({
    host: {
      lane: new CommandLane({
        ...lane,
        programs: { sh: "/bin/sh", tmux: programs.tmux, stty: programs.stty },
        concurrencyMax: terminalConcurrencyMax,
        queueMax: terminalQueueMax,
      }),
    },
    socketName: socketNameDefault,
    tmuxPath: programs.tmux,
    scriptPath: programs.script,
    clock,
    log,
  });
  const mcp = new McpEndpoint({
    version,
    tools: [
      ...agentTools({
        memory,
        requireActive: (id) => workspaces.requireActive(id),
        statusChanged: (id) => workspaces.announceAgent(id),
        log,
      }),
      ...repoTools({
        bridge: bridgeAccess,
        branchOf: async (id) => (await workspaces.get(id)).branch,
      }),
    ],
    rules: () => rules(),
    log,
  });
  const rules = () =>
    browserRules({
      publicUrl: null,
      origins: config.allowedOrigins,
      hostname: config.hostname,
      port: port(),
    });
  const fetch = router({
    table: shipApi,
    log,
    gate: shipGate({
      bridgeToken: config.bridgeToken,
      browser: rules,
      workspaceOf: (token) => tokens.verify(token),
    }),
    handlers: shipHandlers({
      workspaces,
      armory,
      mcp: (id, request) => mcp.handle(id, request),
      takeAgentCredentials: (credentials) => bridgeAccess.take(credentials),
      resources: () => systemResources(clock),
      serveEvents: (socket) =>
        serveEvents(socket, { snapshot: () => workspaces.list(), hub, ship: name, clock, log }),
      serveTerminal: (socket, id) => void serveTerminal(terminals, sessions, { socket, id }),
    }),
  });
  return { workspaces, armory, mcp, terminals, fetch };
}

/** `text` as one word of `sh`. */
const shellWord = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The session's name is known a moment later; what the client sends meanwhile is kept by the socket. */
async function serveTerminal(
  terminals: Terminals,
  sessions: TmuxSessions,
  { socket, id }: { readonly socket: Socket; readonly id: WorkspaceId },
): Promise<void> {
  terminals.serve(socket, await sessions.nameOf(id));
}

/** Sessions run on the ship's own host, so loopback reaches it whatever it listens on. */
function mcpUrl(hostname: string, port: number, { repoName, name }: WorkspaceId): string {
  const wildcard = ["0.0.0.0", "::", "[::]"].includes(hostname);
  const host = wildcard ? "127.0.0.1" : hostname.includes(":") ? `[${hostname}]` : hostname;
  const path = [repoName, name].map(encodeURIComponent).join("/");
  return `http://${host}:${port}/workspaces/${path}/mcp`;
}

function warnWhenOpen({ bridgeToken, hostname }: ShipConfig, log: Log): void {
  if (bridgeToken !== null) return;
  const where = /^(127\.|localhost$|\[?::1\]?$)/.test(hostname)
    ? "every program on this host"
    : "everybody who can reach this port";
  log.warn(`GRID_BRIDGE_TOKEN is not set: this ship answers ${where}`);
}
