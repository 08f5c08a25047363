/**
 * The ship's private folder in the grid directory: clones grow there, and what is deleted is moved there
 * first (hardening 17). Being on the same file system, both are one rename; what a crash leaves is swept
 * at the next start.
 */
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { readIfPresent, statIfPresent } from "../../shared/host/files.ts";
import type { AnchoredMove, Entry } from "./anchored_move.ts";
import type { Log } from "../../shared/log.ts";

/** Which file system object a path named when it was looked at. */
export interface Identity {
  readonly dev: number;
  readonly ino: number | null;
}

const privateMode = 0o700;
const claimSuffix = ".claim";
const keptPrefix = "kept-";

export interface TrashOptions {
  readonly gridDirectory: string;
  readonly move: AnchoredMove;
  readonly log: Log;
  /** Default `<gridDirectory>/.grid-trash`. */
  readonly directory?: string | undefined;
}

export class Trash {
  readonly directory: string;

  constructor(private readonly options: TrashOptions) {
    this.directory = options.directory ?? join(options.gridDirectory, ".grid-trash");
  }

  /** Removes what an earlier run left, and the empty destinations that it had claimed. */
  async sweep(): Promise<void> {
    if (!(await statIfPresent(this.directory))?.isDirectory) return;
    for await (const entry of Deno.readDir(this.directory)) {
      const path = join(this.directory, entry.name);
      if (entry.name.startsWith(keptPrefix)) continue;
      try {
        if (entry.name.endsWith(claimSuffix)) await this.#releaseClaim(path);
        await removeTree(path);
      } catch (thrown) {
        this.options.log.warn(`could not sweep ${path}`, { reason: messageOf(thrown) });
      }
    }
  }

  /** A new path in the folder, with nothing at it. */
  async newPath(): Promise<string> {
    await Deno.mkdir(this.directory, { mode: privateMode }).catch((thrown) => {
      if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
    });
    if (await Deno.realPath(this.directory) !== this.directory) {
      throw new Error(`${this.directory} must be a directory, not a link: remove it`);
    }
    return join(this.directory, crypto.randomUUID());
  }

  /** Notes that `destination` was claimed for `staging`, so that a crash does not leave it claimed. */
  async noteClaim(staging: string, destination: string): Promise<AsyncDisposable> {
    const note = staging + claimSuffix;
    await Deno.writeTextFile(note, destination, { createNew: true, mode: 0o600 });
    return { [Symbol.asyncDispose]: () => Deno.remove(note).catch(() => {}) };
  }

  /**
   * Moves the directory at `path`, which must still be the one `identity` tells, out of the way, and gives
   * its new path. A directory that was swapped in meanwhile is put back.
   */
  async take(path: string, identity: Identity): Promise<string> {
    const taken = await this.newPath();
    const entry = { directory: dirname(path), name: basename(path) };
    await this.options.move.out(entry, taken);
    const moved = await statIfPresent(taken);
    if (moved === null) throw new Error(`${path} is gone`);
    if (isSame(moved, identity)) return taken;
    await this.#putBack(taken, entry);
    throw new Error(`${path} was exchanged for something else meanwhile; nothing was deleted`);
  }

  async #putBack(taken: string, entry: Entry): Promise<void> {
    try {
      await this.options.move.in(entry, taken);
      if (await statIfPresent(taken) !== null) throw new Error("its place is taken");
    } catch (thrown) {
      const kept = join(this.directory, keptPrefix + basename(taken));
      await Deno.rename(taken, kept);
      const path = join(entry.directory, entry.name);
      this.options.log.error(`could not put ${path} back: it is kept at ${kept}`, {
        reason: messageOf(thrown),
      });
    }
  }

  async #releaseClaim(note: string): Promise<void> {
    const destination = await readIfPresent(note);
    const grid = dirname(this.directory);
    if (destination === null || dirname(dirname(destination)) !== grid) return;
    if (await Deno.realPath(destination).catch(() => null) !== destination) return;
    await removeIfEmpty(destination);
  }
}

/** Removes the directory if it is there and empty. */
export async function removeIfEmpty(path: string): Promise<void> {
  try {
    for await (const _ of Deno.readDir(path)) return;
    await Deno.remove(path);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

/** Removes a tree, links as links; read-only directories (Go's module cache) are made writable first. */
export async function removeTree(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return;
    if (!(thrown instanceof Deno.errors.PermissionDenied)) throw thrown;
    await makeWritable(path);
    await Deno.remove(path, { recursive: true });
  }
}

async function makeWritable(path: string): Promise<void> {
  if (!(await statIfPresent(path))?.isDirectory) return;
  await Deno.chmod(path, privateMode);
  for await (const entry of Deno.readDir(path)) {
    if (entry.isDirectory) await makeWritable(join(path, entry.name));
  }
}

const isSame = (info: Deno.FileInfo, identity: Identity) =>
  info.isDirectory && info.dev === identity.dev && info.ino === identity.ino;
