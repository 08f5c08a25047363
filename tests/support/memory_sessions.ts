/** Sessions, agents and tokens without tmux: supported doubles that keep the ports' promises. */
import { type WorkspaceId, workspaceKey } from "../../shared/ids.ts";
import type { AgentStatus } from "../../shared/schema/agent.ts";
import type { AgentMemory, AgentTokens, Sessions } from "../../ship/workspace/ports.ts";

export interface MemorySession {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

export class MemorySessions implements Sessions {
  readonly running = new Map<string, MemorySession>();
  /** Runs while a session is being stopped, as a shell might do a last thing. */
  onStop: (id: WorkspaceId) => Promise<void> = () => Promise.resolve();

  names(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(this.running.keys()));
  }
  async nameOf(id: WorkspaceId): Promise<string> {
    const bytes = new TextEncoder().encode(`v1:${id.repoName.length}:${workspaceKey(id)}`);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return `ws-${digest.toHex()}`;
  }
  async start(
    id: WorkspaceId,
    directory: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<void> {
    this.running.set(await this.nameOf(id), { directory, environment });
  }
  async stop(id: WorkspaceId): Promise<void> {
    await this.onStop(id);
    this.running.delete(await this.nameOf(id));
  }
  /** The server dies, and every session with it. */
  die(): void {
    this.running.clear();
  }
}

export class MemoryAgents implements AgentMemory {
  readonly statuses = new Map<string, AgentStatus>();
  get(id: WorkspaceId): AgentStatus | null {
    return this.statuses.get(workspaceKey(id)) ?? null;
  }
  clear(id: WorkspaceId): void {
    this.statuses.delete(workspaceKey(id));
  }
}

export class MemoryTokens implements AgentTokens {
  readonly tokens = new Map<string, string>();
  mint(id: WorkspaceId): string {
    const token = crypto.randomUUID();
    this.tokens.set(workspaceKey(id), token);
    return token;
  }
  revoke(id: WorkspaceId): void {
    this.tokens.delete(workspaceKey(id));
  }
}
