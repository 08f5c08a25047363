/**
 * The ship, put together. Constructing touches nothing; `start` opens the port, writes `atlas.json` and
 * serves until it is disposed.
 */
import { join } from "node:path";
import { shipApi } from "../shared/api/ship_api.ts";
import { systemClock } from "../shared/clock.ts";
import { EventHub } from "../shared/event_hub.ts";
import { CommandLane } from "../shared/host/command.ts";
import { writeAtomically } from "../shared/host/files.ts";
import { listen, type Listener } from "../shared/host/listen.ts";
import { lockDirectory } from "../shared/host/lock.ts";
import { browserRules } from "../shared/http/browser_guard.ts";
import { router } from "../shared/http/router.ts";
import type { WorkspaceId } from "../shared/ids.ts";
import { limits } from "../shared/limits.ts";
import type { Log } from "../shared/log.ts";
import type { WorkspaceEvent } from "./workspace/ports.ts";
import { AgentMemory } from "./agent/memory.ts";
import { McpEndpoint } from "./agent/mcp.ts";
import { AgentTokens } from "./agent/tokens.ts";
import type { ShipConfig } from "./config.ts";
import { serveEvents } from "./events.ts";
import { shipGate } from "./gate.ts";
import { Git } from "./git/git.ts";
import { systemResources } from "./resources.ts";
import { shipHandlers } from "./routes.ts";
import { TmuxSessions } from "./tmux/tmux.ts";
import { Workspaces } from "./workspace/workspaces.ts";

/** Absolute paths of the programs a ship runs. */
export interface ShipPrograms {
  readonly git: string;
  readonly tmux: string;
  readonly timeout: string;
}

/** Waiting commands of one lane; more are refused as too busy. */
const queueMax = 1024;
