/** Taking a workspace away: checked, ended, moved out of the way, deleted (interface, ship behaviour 6). */
import { fail, messageOf } from "../../shared/errors.ts";
import type { WorkspaceId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Git } from "../git/git.ts";
import { heldWork } from "./held_work.ts";
import type { Place, Places } from "./places.ts";
import { type Identity, removeTree, type Trash } from "./trash.ts";

export interface RemovalOptions {
  readonly places: Places;
  readonly git: Git;
  readonly trash: Trash;
  readonly log: Log;
}

export class Removal {
  constructor(private readonly options: RemovalOptions) {}

  /** Throws `holdsWork` with everything found. */
  async refuseHeldWork({ id, directory }: Place): Promise<void> {
    const found = await heldWork(this.options.git.in(directory));
    if (found.length > 0) throw fail("holdsWork", { ...id, found: found.join("; ") });
  }

  /** What the workspace's path names now, to be held against what is deleted. */
  async identify({ id, directory }: Place): Promise<Identity> {
    const info = await Deno.lstat(directory).catch(() => null);
    if (info === null || !info.isDirectory) throw fail("workspaceNotFound", id);
    return { dev: info.dev, ino: info.ino };
  }

  /** Moves the directory out of the way; gives the last branch, and what deletes it for good. */
  async take(
    { id, directory }: Place,
    identity: Identity,
  ): Promise<{ branch: string; destroy: () => Promise<void> }> {
    const { places, trash } = this.options;
    const place = await places.require(id);
    try {
      const taken = await trash.take(directory, identity);
      return { branch: place.branch, destroy: () => this.#destroy(id, taken) };
    } catch (thrown) {
      throw fail("commandFailed", { what: "deleting the workspace", reason: messageOf(thrown) }, {
        cause: thrown,
      });
    }
  }

  /** The workspace is gone either way; what cannot be deleted stays in the trash for the next sweep. */
  async #destroy(id: WorkspaceId, taken: string): Promise<void> {
    try {
      await removeTree(taken);
    } catch (thrown) {
      this.options.log.warn(`could not empty the trash of ${id.repoName}/${id.name}`, {
        path: taken,
        reason: messageOf(thrown),
      });
    }
  }
}
