/** What the armory's directory holds: every listed file with its hash. Files that did not change are not read again. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { unsafePathRule } from "../../shared/armory_paths.ts";
import { forEachBounded } from "../../shared/bounded.ts";
import type { Clock } from "../../shared/clock.ts";
import { fail } from "../../shared/errors.ts";
import { statIfPresent } from "../../shared/host/files.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import { type ArmoryEntry, armorySections } from "../../shared/schema/armory.ts";
import { isLeftOut, normalMode, sectionOf } from "./names.ts";

export interface ScanOptions {
  /** The armory; it need not exist. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** What was true of a file when it was hashed. */
interface Known {
  readonly stamp: string;
  readonly sha256: string;
}

const hashConcurrencyMax = 8;
const readBytes = 256 * 1024;
/** A file changed this shortly before it was hashed may change again without a new timestamp. */
const settledMs = 1_000;

export class Scanner {
  #known = new Map<string, Known>();
  readonly #warned = new Set<string>();

  constructor(private readonly options: ScanOptions) {}

  /** The entries by path. Throws `armoryTooManyFiles`, or the system's error when a folder cannot be read. */
  async scan(): Promise<ArmoryEntry[]> {
    const paths: string[] = [];
    for (const section of armorySections) await this.#collect(section, paths);
    const known = new Map<string, Known>();
    const entries: ArmoryEntry[] = [];
    await forEachBounded(paths, hashConcurrencyMax, async (path) => {
      const entry = await this.#entry(path, known);
      if (entry !== null) entries.push(entry);
    });
    this.#known = known;
    return entries.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  }

  /** Adds the paths of the regular files below `folder`. Links are neither followed nor listed. */
  async #collect(folder: string, paths: string[]): Promise<void> {
    const path = join(this.options.directory, folder);
    if (!(await statIfPresent(path))?.isDirectory) return;
    try {
      for await (const { name, isFile, isDirectory } of Deno.readDir(path)) {
        if (isLeftOut(name) || (!isFile && !isDirectory)) continue;
        const inside = `${folder}/${name}`;
        const rule = unsafePathRule(inside);
        if (rule !== null) this.#warnOnce(inside, rule);
        else if (isDirectory) await this.#collect(inside, paths);
        else paths.push(inside);
        if (paths.length > limits.armoryEntriesMax) {
          throw fail("armoryTooManyFiles", {
            directory: this.options.directory,
            limit: limits.armoryEntriesMax,
          });
        }
      }
    } catch (thrown) {
      // Removed while it was read: what is gone is not listed.
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
  }

  async #entry(path: string, known: Map<string, Known>): Promise<ArmoryEntry | null> {
    const whole = join(this.options.directory, path);
    const section = sectionOf(path);
    const before = await statIfPresent(whole);
    if (section === null || before === null || !before.isFile) return null;
    const old = this.#known.get(path);
    if (old !== undefined && old.stamp === stampOf(before)) {
      known.set(path, old);
      return entryOf(path, before, old.sha256);
    }
    const hashedAtMs = this.options.clock.now().getTime();
    const read = await hashFile(whole);
    if (read === null) return null;
    const settled = (read.info.ctime?.getTime() ?? hashedAtMs) + settledMs < hashedAtMs;
    if (settled) known.set(path, { stamp: stampOf(read.info), sha256: read.sha256 });
    return entryOf(path, { ...read.info, size: read.size }, read.sha256);
  }

  /** A name that no ship would take is left out, and said once. */
  #warnOnce(path: string, rule: string): void {
    if (this.#warned.has(path)) return;
    this.#warned.add(path);
    this.options.log.warn("a file of the armory is left out: rename it", { path, why: rule });
  }
}

function entryOf(
  path: string,
  { size, mode }: Pick<Deno.FileInfo, "size" | "mode">,
  sha256: string,
): ArmoryEntry {
  const section = sectionOf(path);
  if (section === null) throw new Error(`${path} lies in no section`);
  return { path, section, size, sha256, mode: normalMode(mode) };
}

const stampOf = (info: Deno.FileInfo) =>
  [info.dev, info.ino, info.size, info.mtime?.getTime(), info.ctime?.getTime()].join(":");

/** The size and hash of what a file holds, read piece by piece; null when it is gone or no regular file. */
async function hashFile(
  path: string,
): Promise<{ info: Deno.FileInfo; size: number; sha256: string } | null> {
  const file = await openFile(path);
  if (file === null) return null;
  try {
    const info = await file.stat();
    if (!info.isFile) return null;
    const hash = createHash("sha256");
    const buffer = new Uint8Array(Math.min(readBytes, Math.max(1, info.size + 1)));
    let size = 0;
    for (;;) {
      const count = await file.read(buffer);
      if (count === null) break;
      hash.update(buffer.subarray(0, count));
      size += count;
    }
    return { info, size, sha256: hash.digest("hex") };
  } finally {
    file.close();
  }
}

/** Opens for reading; null when nothing is there. */
export async function openFile(path: string): Promise<Deno.FsFile | null> {
  try {
    return await Deno.open(path, { read: true });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}
