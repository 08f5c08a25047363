/** What the coding agent of each workspace last told of itself: runtime memory, never persisted. */
import { fail } from "../../shared/errors.ts";
import { type WorkspaceId, type WorkspaceKey, workspaceKey } from "../../shared/ids.ts";
import type { AgentInit, AgentStatus, AgentUpdate } from "../../shared/schema/agent.ts";

/** One status per workspace, from `init` until `clear`. */
export class AgentMemory {
  readonly #statuses = new Map<WorkspaceKey, AgentStatus>();

  /** Begins anew with state `idle`; the description is empty when none is given. */
  init(id: WorkspaceId, init: AgentInit): AgentStatus {
    const { model, provider, harness, description = "" } = init;
    return this.#keep(id, { state: "idle", description, model, provider, harness });
  }

  /** Changes state and description; the rest stays as `init` had it. Throws `agentNotInitialized`. */
  update(id: WorkspaceId, { state, description }: AgentUpdate): AgentStatus {
    const before = this.get(id);
    if (before === null) throw fail("agentNotInitialized", id);
    return this.#keep(id, { ...before, state, description });
  }

  /** The last status, or null when there is none. */
  get(id: WorkspaceId): AgentStatus | null {
    return this.#statuses.get(workspaceKey(id)) ?? null;
  }

  /** Forgets the workspace's status. */
  clear(id: WorkspaceId): void {
    this.#statuses.delete(workspaceKey(id));
  }

  #keep(id: WorkspaceId, status: AgentStatus): AgentStatus {
    const frozen = Object.freeze(status);
    this.#statuses.set(workspaceKey(id), frozen);
    return frozen;
  }
}
