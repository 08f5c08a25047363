/** One daemon per directory: an advisory lock (flock) that the system drops when its holder dies. */
import { join } from "node:path";

/** Thrown when another process holds the lock. */
export class LockedError extends Error {
  override readonly name = "LockedError";
}

/**
 * Locks `directory` for this process by a file `name` in it, until disposed. Throws `LockedError` at once
 * when another process holds it; `who` names what holds it, for people.
 */
export async function lockDirectory(
  directory: string,
  name: string,
  who: string,
): Promise<Disposable> {
  const path = join(directory, name);
  const file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
  if (await file.tryLock(true)) return { [Symbol.dispose]: () => file.close() };
  file.close();
  throw new LockedError(
    `${who} already runs on ${directory} (it holds ${path}): stop it first, or use another directory`,
  );
}
