/** The file `auth.db` itself, before Deno KV sees it. */
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../shared/errors.ts";
import { statIfPresent } from "../../shared/host/files.ts";

/** `auth.db` cannot be used. The message names the file, says why and what to do; it stops the start. */
export class AuthStoreError extends Error {
  override readonly name = "AuthStoreError";
  constructor(path: string, why: string, options?: ErrorOptions) {
    super(
      `the authentication database ${path} cannot be used: ${why}. It was left as it is; ` +
        `restore it from a backup, or move it away to start without users.`,
      options,
    );
  }
}

/**
 * Makes sure that `path` is a file of mode 0600: SQLite gives `-wal` and `-shm` the mode of the database,
 * so it must be right before the first open. A file with contents must be sound and Deno KV's: opening
 * a foreign SQLite file would add Deno's tables to it. Throws `AuthStoreError`.
 */
export async function prepareStoreFile(path: string): Promise<void> {
  const info = await statIfPresent(path);
  if (info === null) return await create(path);
  if (!info.isFile) throw new AuthStoreError(path, "it is not a regular file");
  for (const file of [path, `${path}-wal`, `${path}-shm`]) await restrict(path, file);
  // All that a young database holds may still be in its -wal; a file of no bytes without one is new.
  if (info.size > 0 || await statIfPresent(`${path}-wal`) !== null) inspect(path);
}

async function create(path: string): Promise<void> {
  try {
    (await Deno.open(path, { write: true, createNew: true, mode: 0o600 })).close();
  } catch (thrown) {
    throw new AuthStoreError(path, `it cannot be created: ${messageOf(thrown)}`, { cause: thrown });
  }
}

async function restrict(path: string, file: string): Promise<void> {
  const info = await statIfPresent(file);
  if (info === null || ((info.mode ?? 0) & 0o077) === 0) return;
  try {
    await Deno.chmod(file, 0o600);
  } catch (thrown) {
    throw new AuthStoreError(
      path,
      `others may read ${file} and its mode cannot be changed: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/** Looks at the file read-only, through SQLite itself: Deno KV's own open writes before it looks. */
function inspect(path: string): void {
  let tables: string[];
  let verdict: string;
  try {
    using database = openReadOnly(path);
    tables = database.texts("select name from sqlite_master where type = 'table'");
    verdict = database.texts("pragma quick_check(1)").join("; ");
  } catch (thrown) {
    throw new AuthStoreError(path, messageOf(thrown), { cause: thrown });
  }
  if (verdict !== "ok") throw new AuthStoreError(path, `it is damaged: ${verdict}`);
  // Nothing at all: the process that created it ended before its first write.
  if (tables.length > 0 && !(tables.includes("kv") && tables.includes("data_version"))) {
    throw new AuthStoreError(path, "it is a SQLite database of some other program");
  }
}

function openReadOnly(path: string): Disposable & { texts(sql: string): string[] } {
  const database = new DatabaseSync(path, { readOnly: true });
  return {
    texts: (sql) => database.prepare(sql).all().map((row) => String(Object.values(row)[0])),
    [Symbol.dispose]: () => database.close(),
  };
}
