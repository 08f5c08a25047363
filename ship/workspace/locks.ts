/**
 * One mutation of a workspace at a time. What can follow waits its turn; what would only meet a workspace
 * that comes or goes (a delete during a create, anything during a delete) is refused.
 */
import { fail } from "../../shared/errors.ts";
import { type WorkspaceId, type WorkspaceKey, workspaceKey } from "../../shared/ids.ts";

export type Doing = "create" | "delete" | "activate" | "deactivate" | "branch switch";

interface Holder {
  readonly doing: Doing;
  readonly done: Promise<void>;
}

const waitersMax = 32;

export class WorkspaceLocks {
  readonly #holders = new Map<WorkspaceKey, Holder[]>();

  isHeld(id: WorkspaceId): boolean {
    return this.#holders.has(workspaceKey(id));
  }

  /** Takes the workspace for `doing`; disposing gives it back. Throws `workspaceBusy` or `tooBusy`. */
  async acquire(id: WorkspaceId, doing: Doing): Promise<Disposable> {
    const key = workspaceKey(id);
    const holders = this.#holders.get(key) ?? [];
    const conflict = holders.find((holder) => refuses(holder.doing, doing));
    if (conflict !== undefined) throw fail("workspaceBusy", { ...id, doing: conflict.doing });
    if (holders.length >= waitersMax) throw fail("tooBusy", { what: "changes of one workspace" });
    const before = holders.at(-1)?.done;
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const own = { doing, done };
    holders.push(own);
    this.#holders.set(key, holders);
    await before;
    return {
      [Symbol.dispose]: () => {
        const index = holders.indexOf(own);
        if (index >= 0) holders.splice(index, 1);
        if (holders.length === 0) this.#holders.delete(key);
        resolve();
      },
    };
  }
}

/** A create may follow a delete; nothing else waits for a workspace that comes or goes. */
function refuses(holder: Doing, doing: Doing): boolean {
  return holder === "create" || (holder === "delete" && doing !== "create");
}
