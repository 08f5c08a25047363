/** What workspaces need of the rest of the ship; `ship/tmux` and `ship/agent` implement it. */
import type { WorkspaceId } from "../../shared/ids.ts";
import type { AgentStatus } from "../../shared/schema/agent.ts";
import type { FleetEvent, WorkspaceEventType } from "../../shared/schema/event.ts";

/** The terminal sessions of workspaces. */
export interface Sessions {
  /** Names of the workspaces' sessions that exist now (`ws-<sha256>`); empty when no tmux server runs. */
  names(): Promise<ReadonlySet<string>>;
  /** `ws-<sha256 hex>`, the same for the same pair for ever. */
  nameOf(id: WorkspaceId): Promise<string>;
  start(
    id: WorkspaceId,
    directory: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Idempotent. */
  stop(id: WorkspaceId): Promise<void>;
}

/** What agents last said of themselves. */
export interface AgentMemory {
  get(id: WorkspaceId): AgentStatus | null;
  clear(id: WorkspaceId): void;
}

/** The opaque tokens that agents present, one per active workspace. */
export interface AgentTokens {
  mint(id: WorkspaceId): string;
  revoke(id: WorkspaceId): void;
}

/** A change of one workspace: every `FleetEvent` but `sync`. */
export type WorkspaceEvent = Extract<FleetEvent, { type: WorkspaceEventType }>;
