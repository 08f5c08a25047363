/**
 * Which workspaces are active. Sessions alone decide that; this remembers what was seen last, so that a
 * session that vanished (its shell left, the tmux server died) is told once (hardening 14).
 */
import { type WorkspaceId, type WorkspaceKey, workspaceKey } from "../../shared/ids.ts";
import type { WorkspaceLocks } from "./locks.ts";
import type { Sessions } from "./ports.ts";

export interface ActivityOptions {
  readonly sessions: Sessions;
  readonly locks: WorkspaceLocks;
  /** Called once for every workspace whose session vanished by itself; must not throw. */
  readonly onVanished: (id: WorkspaceId) => Promise<void>;
}

/** What one look at the sessions showed. */
export interface Look {
  isActive(id: WorkspaceId): Promise<boolean>;
}

export class Activity {
  readonly #known = new Map<WorkspaceKey, WorkspaceId>();
  /** When each key was last changed by us, in ticks: an older look knows nothing of it. */
  readonly #changed = new Map<WorkspaceKey, number>();
  /** Changes up to this tick are forgotten; a look that began before it counts as too old. */
  #forgottenTick = 0;
  #tick = 0;
  #looksUnderWay = 0;

  constructor(private readonly options: ActivityOptions) {}

  /** Asks for the sessions that exist now, and tells of known ones that vanished. */
  async look(): Promise<Look> {
    const startedAt = this.#tick;
    this.#looksUnderWay += 1;
    try {
      const names = await this.options.sessions.names();
      for (const [key, id] of [...this.#known]) {
        if (names.has(await this.options.sessions.nameOf(id))) continue;
        if (!this.#isOurs(id, startedAt) || !this.#known.delete(key)) continue;
        await this.options.onVanished(id);
      }
      return { isActive: (id) => this.#isActive(id, names, startedAt) };
    } finally {
      this.#looksUnderWay -= 1;
      if (this.#looksUnderWay === 0) this.#forgetChanges();
    }
  }

  /** Our own start or stop succeeded; gives whether that was news. */
  set(id: WorkspaceId, active: boolean): boolean {
    const key = workspaceKey(id);
    this.#tick += 1;
    this.#changed.set(key, this.#tick);
    if (!active) return this.#known.delete(key);
    const news = !this.#known.has(key);
    this.#known.set(key, id);
    return news;
  }

  async #isActive(
    id: WorkspaceId,
    names: ReadonlySet<string>,
    startedAt: number,
  ): Promise<boolean> {
    const active = names.has(await this.options.sessions.nameOf(id));
    if (active && this.#isOurs(id, startedAt)) this.#known.set(workspaceKey(id), id);
    return active;
  }

  #forgetChanges(): void {
    if (this.#changed.size === 0) return;
    this.#changed.clear();
    this.#forgottenTick = this.#tick;
  }

  /** False while somebody changes the workspace, or has since the look began: its change is told by him. */
  #isOurs(id: WorkspaceId, startedAt: number): boolean {
    return !this.options.locks.isHeld(id) &&
      startedAt >= this.#forgottenTick &&
      (this.#changed.get(workspaceKey(id)) ?? 0) <= startedAt;
  }
}
