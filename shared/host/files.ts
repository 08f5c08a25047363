/** Files that survive a crash, and paths that stay where they belong. */
import { dirname, join, sep } from "node:path";
import { fail, messageOf } from "../errors.ts";

/**
 * Replaces `path` by `text`, so that a reader or a crash sees the old or the new contents and nothing
 * between: temporary file (0600) in the same directory, fsync, rename, fsync of the directory.
 * Throws `storageFailed`; then the old contents stand. One writer per path, which the caller sees to.
 */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
    try {
      await writeAll(file, new TextEncoder().encode(text));
      await file.sync();
    } finally {
      file.close();
    }
    await Deno.rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (thrown) {
    await Deno.remove(temporary).catch(() => {});
    throw fail("storageFailed", { file: path, reason: messageOf(thrown) }, { cause: thrown });
  }
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += await file.write(bytes.subarray(written));
}

/** Makes a rename in `path` durable; a directory opens like a file for that. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await Deno.open(path, { read: true });
  try {
    await directory.sync();
  } finally {
    directory.close();
  }
}

/** The file's text, or null when there is no such file. */
export async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** What stands at `path` itself (links are not followed), or null. */
export async function statIfPresent(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) {
      return null;
    }
    throw thrown;
  }
}

/** True when `path` is `directory` or lies below it, both absolute and normalised; links are not resolved. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory ||
    path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The absolute path of `program` on `searchPath` (a PATH), or null. */
export async function findProgram(program: string, searchPath: string): Promise<string | null> {
  for (const directory of searchPath.split(":")) {
    if (!directory.startsWith("/")) continue;
    const path = join(directory, program);
    const info = await Deno.stat(path).catch(() => null);
    if (info?.isFile && ((info.mode ?? 0) & 0o111) !== 0) return path;
  }
  return null;
}
