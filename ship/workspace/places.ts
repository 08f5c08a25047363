/**
 * Where workspaces lie on disk, and which directories count as one (hardening 5, 16, 17). Everything a
 * listing needs is read from files; git is asked only where files cannot tell.
 */
import { join } from "node:path";
import { fail } from "../../shared/errors.ts";
import { isWithin, statIfPresent } from "../../shared/host/files.ts";
import { asIdentifier, collisionForm, type RepoName, type WorkspaceId } from "../../shared/ids.ts";
import type { Git } from "../git/git.ts";
import { branchOf, type Head, headOfRef, mayMoveWorktree, parseHead } from "../git/parse.ts";

/** Entries of the grid directory with this beginning are the ship's own, never repos. */
export const reservedPrefix = ".grid-";
const scanConcurrencyMax = 32;
const headBytesMax = 4096;
const configBytesMax = 1024 * 1024;
const callMs = 10_000;

export interface Place {
  readonly id: WorkspaceId;
  readonly directory: string;
  readonly branch: string;
}

export class Places {
  constructor(readonly gridDirectory: string, private readonly git: Git) {}

  repoDirectory(repoName: RepoName): string {
    return join(this.gridDirectory, repoName);
  }

  directoryOf(id: WorkspaceId): string {
    return join(this.gridDirectory, id.repoName, id.name);
  }

  /** Every workspace, in order of repo and name; what is no workspace or vanishes is left out. */
  async all(): Promise<Place[]> {
    const repos = (await directoriesIn(this.gridDirectory)).filter((name) => !isReserved(name));
    const ids: WorkspaceId[] = [];
    for (const text of repos) {
      const repoName = asIdentifier("repo", text);
      if (repoName === null) continue;
      for (const entry of await directoriesIn(this.repoDirectory(repoName))) {
        const name = asIdentifier("workspace", entry);
        if (name !== null) ids.push({ repoName, name });
      }
    }
    const places = await mapBounded(ids, (id) => this.#look(id).catch(() => null));
    return places.filter((place) => place !== null);
  }

  /** The workspace, or null. Throws `escapesGridDirectory` when a link leads out of the grid directory. */
  async find(id: WorkspaceId): Promise<Place | null> {
    if (isReserved(id.repoName)) return null;
    await this.#refuseEscape(id);
    return await this.#look(id, true);
  }

  /** The workspace. Throws `workspaceNotFound`, `escapesGridDirectory`. */
  async require(id: WorkspaceId): Promise<Place> {
    const place = await this.find(id);
    if (place === null) throw fail("workspaceNotFound", id);
    return place;
  }

  /** The branch as far as it can be read: empty when it cannot. */
  async branchOrEmpty(id: WorkspaceId): Promise<string> {
    return await this.#branch(this.directoryOf(id)).catch(() => null) ?? "";
  }

  /** Throws `escapesGridDirectory` when the repo's or the workspace's directory is reached by a link. */
  async #refuseEscape(id: WorkspaceId): Promise<void> {
    for (const path of [this.repoDirectory(id.repoName), this.directoryOf(id)]) {
      const real = await Deno.realPath(path).catch(() => null);
      if (real !== null && !isWithin(this.gridDirectory, real)) {
        throw fail("escapesGridDirectory", id);
      }
    }
  }

  /** `checkReal` compares real paths too; a scan has read the directories themselves just now. */
  async #look(id: WorkspaceId, checkReal = false): Promise<Place | null> {
    const directory = this.directoryOf(id);
    if (checkReal) {
      if (!(await statIfPresent(directory))?.isDirectory) return null;
      if (await Deno.realPath(directory).catch(() => null) !== directory) return null;
    }
    if (!await this.#isWorkingTree(directory)) return null;
    const branch = await this.#branch(directory);
    return branch === null ? null : { id, directory, branch };
  }

  async #isWorkingTree(directory: string): Promise<boolean> {
    const dotGit = join(directory, ".git");
    if (!(await statIfPresent(dotGit))?.isDirectory) return false;
    const [objects, refs, commonDir, config] = await Promise.all(
      ["objects", "refs", "commondir", "config"].map((name) => statIfPresent(join(dotGit, name))),
    );
    if (!objects?.isDirectory || !refs?.isDirectory || commonDir) return false;
    const plain = config === null || config === undefined ||
      config.isFile && config.size <= configBytesMax &&
        !mayMoveWorktree(await Deno.readTextFile(join(dotGit, "config")));
    if (plain) return true;
    if (config?.isSymlink || (config !== null && !config?.isFile)) return false;
    return await this.git.in(directory).topLevel() === directory;
  }

  async #branch(directory: string): Promise<string | null> {
    const head = await readHead(join(directory, ".git", "HEAD"));
    if (head === null) return null;
    if (head.kind !== "unknown") return branchOf(head);
    const copy = this.git.in(directory);
    const symbolic = await copy.call(["symbolic-ref", "--quiet", "--short", "HEAD"], {
      timeoutMs: callMs,
    });
    if (symbolic.ok) return symbolic.stdout.trim();
    const oid = await copy.call(["rev-parse", "--verify", "--quiet", "HEAD"], {
      timeoutMs: callMs,
    });
    return oid.ok ? branchOf({ kind: "detached", oid: oid.stdout.trim() }) : null;
  }
}

async function readHead(path: string): Promise<Head | null> {
  const info = await statIfPresent(path);
  // A pipe or a device would never end; a link is what old gits wrote, and is read, not followed.
  if (info?.isSymlink) return headOfRef(await Deno.readLink(path));
  if (!info?.isFile || info.size > headBytesMax) return null;
  return parseHead(await Deno.readTextFile(path));
}

/** True for names that are the ship's own or would make a repo directory look like a clone. */
export function isReserved(name: string): boolean {
  const form = collisionForm(name);
  return form.startsWith(reservedPrefix) || form === ".git";
}

/** Names of the real directories in `path`, sorted; none when it cannot be read. */
async function directoriesIn(path: string): Promise<string[]> {
  try {
    const names: string[] = [];
    for await (const entry of Deno.readDir(path)) if (entry.isDirectory) names.push(entry.name);
    return names.sort();
  } catch {
    return [];
  }
}

/** An entry of `path` that is another name, but the same under `collisionForm`; or null. */
export async function collidingEntry(path: string, name: string): Promise<string | null> {
  const form = collisionForm(name);
  for await (const entry of Deno.readDir(path)) {
    if (entry.name !== name && collisionForm(entry.name) === form) return entry.name;
  }
  return null;
}

async function mapBounded<In, Out>(
  items: readonly In[],
  work: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as In);
    }
  };
  await Promise.all(Array.from({ length: scanConcurrencyMax }, worker));
  return results;
}
