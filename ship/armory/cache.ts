/**
 * The armory's files on this host: `<revision>/…` each, and the link `current`, which every installed link
 * leads through, so that replacing it shows a whole revision at once.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { z } from "zod";
import { forEachBounded } from "../../shared/bounded.ts";
import { statIfPresent } from "../../shared/host/files.ts";
import { JsonFile } from "../../shared/host/json_file.ts";
import {
  type ArmoryEntry,
  type ArmoryManifest,
  armoryManifestSchema,
} from "../../shared/schema/armory.ts";
import type { Linker } from "./linker.ts";

/** What is known of a complete revision; it stands in the revision's folder, written last. */
const recordSchema = z.object({
  bridgeUrl: z.string(),
  pulledAt: z.string(),
  manifest: armoryManifestSchema,
});
export type RevisionRecord = z.infer<typeof recordSchema>;

export interface FillOptions {
  readonly manifest: ArmoryManifest;
  /** The manifest of a revision that is there already, whose files serve again; or null. */
  readonly earlier: ArmoryManifest | null;
  /** Gives the verified bytes of a file. */
  readonly fetch: (entry: ArmoryEntry) => Promise<Uint8Array<ArrayBuffer>>;
  /** Called after each file. */
  readonly onFile: () => void;
}

const revisionName = /^[0-9a-f]{64}$/;
const currentName = "current";
const temporaryName = ".tmp";
const fillConcurrencyMax = 8;
const readBytes = 256 * 1024;

export class ArmoryCache {
  /** What installed links lead through. */
  readonly currentPath: string;
  #temporaries = 0;

  /** `directory`: absolute, links resolved; it is the cache's alone. */
  constructor(readonly directory: string, private readonly linker: Linker) {
    this.currentPath = join(directory, currentName);
  }

  /** Makes the folder and removes what an interrupted run left half-written. */
  async open(): Promise<void> {
    await Deno.mkdir(this.directory, { recursive: true, mode: 0o700 });
    await Deno.remove(this.#temporary(), { recursive: true }).catch(ignoreMissing);
    await Deno.mkdir(this.#temporary());
  }

  /** The record of the revision that is installed, or null. Throws `StoredFileError`. */
  async current(): Promise<RevisionRecord | null> {
    const info = await statIfPresent(this.currentPath);
    if (!info?.isSymlink) return null;
    const revision = await Deno.readLink(this.currentPath);
    if (!revisionName.test(revision)) return null;
    return await this.#record(revision).read();
  }

  /** Completes the folder of `manifest.revision`. What is there already is checked byte by byte. */
  async fill({ manifest, earlier, fetch, onFile }: FillOptions): Promise<void> {
    const root = this.#revision(manifest.revision);
    const old = new Map(
      earlier?.entries.map(({ sha256, path }) =>
        [sha256, join(this.#revision(earlier.revision), path)] as const
      ),
    );
    // What is shown already changes only once every byte of it has been verified.
    const shown = earlier?.revision === manifest.revision;
    const moves: Array<readonly [from: string, to: string]> = [];
    const place = async (temporary: string, path: string) => {
      if (shown) moves.push([temporary, path]);
      else await Deno.rename(temporary, path);
    };
    const folders = new Set<string>();
    await makeRealFolder(root, root, folders);
    for (const { path } of manifest.entries) {
      await makeRealFolder(root, dirname(join(root, path)), folders);
    }
    await forEachBounded(manifest.entries, fillConcurrencyMax, async (entry) => {
      const path = join(root, entry.path);
      if (!await holds(path, entry)) {
        const temporary = await this.#reuse(old.get(entry.sha256), entry) ??
          await this.#write(entry, await fetch(entry));
        await place(temporary, path);
      }
      onFile();
    });
    for (const [from, to] of moves) await Deno.rename(from, to);
  }

  /** Marks the revision as complete. Throws `storageFailed`. */
  async complete(record: RevisionRecord): Promise<void> {
    await this.#record(record.manifest.revision).write(record);
  }

  /** Makes a complete revision the installed one. */
  async switchTo(revision: string): Promise<void> {
    const shown = await Deno.readLink(this.currentPath).catch(() => null);
    if (shown === revision) return;
    const temporary = join(this.#temporary(), currentName);
    await Deno.remove(temporary).catch(ignoreMissing);
    await this.linker.link(revision, temporary);
    await Deno.rename(temporary, this.currentPath);
  }

  /** Removes every revision but `keep`. */
  async prune(...keep: readonly (string | null)[]): Promise<void> {
    for await (const { name } of Deno.readDir(this.directory)) {
      if (!revisionName.test(name) || keep.includes(name)) continue;
      await Deno.remove(join(this.directory, name), { recursive: true });
    }
  }

  /** A copy of an earlier revision's file, when its bytes still are what they were. */
  async #reuse(source: string | undefined, entry: ArmoryEntry): Promise<string | null> {
    if (source === undefined || !await holds(source, { ...entry, mode: null })) return null;
    const temporary = this.#nextTemporary();
    await Deno.copyFile(source, temporary);
    // Somebody may have written through an installed link while it was copied.
    if (!await holds(temporary, { ...entry, mode: null })) return null;
    await Deno.chmod(temporary, entry.mode);
    return temporary;
  }

  async #write({ mode }: ArmoryEntry, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const temporary = this.#nextTemporary();
    await Deno.writeFile(temporary, bytes, { createNew: true, mode });
    // The mode at creation is cut by the umask.
    await Deno.chmod(temporary, mode);
    return temporary;
  }

  #nextTemporary(): string {
    return join(this.#temporary(), String(this.#temporaries++));
  }

  #temporary(): string {
    return join(this.directory, temporaryName);
  }

  #revision(revision: string): string {
    return join(this.directory, revision);
  }

  #record(revision: string): JsonFile<typeof recordSchema> {
    const path = join(this.#revision(revision), "manifest.json");
    return new JsonFile({ path, version: 1, key: "revision", schema: recordSchema });
  }
}

/** Makes a folder below `root`, one component after the other: none of them may be a link. */
async function makeRealFolder(root: string, path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  if (path !== root) await makeRealFolder(root, dirname(path), made);
  const info = await statIfPresent(path);
  if (info === null) await Deno.mkdir(path);
  else if (!info.isDirectory) throw new Error(`${path} is reached through a link or a file`);
  made.add(path);
}

/** Whether a regular file with exactly this size, hash and mode (unless null) stands at `path`. */
async function holds(
  path: string,
  { size, sha256, mode }: Pick<ArmoryEntry, "size" | "sha256"> & { readonly mode: number | null },
): Promise<boolean> {
  const info = await statIfPresent(path);
  if (info === null || !info.isFile || info.size !== size) return false;
  if (mode !== null && ((info.mode ?? 0) & 0o777) !== mode) return false;
  using file = await Deno.open(path, { read: true });
  const hash = createHash("sha256");
  const buffer = new Uint8Array(Math.min(readBytes, size + 1));
  for (;;) {
    const count = await file.read(buffer);
    if (count === null) return hash.digest("hex") === sha256;
    hash.update(buffer.subarray(0, count));
  }
}

function ignoreMissing(thrown: unknown): void {
  if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
}
