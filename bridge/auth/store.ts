/** The authentication database: one Deno KV file, opened, checked, and closed with the bridge. */
import { fail, messageOf } from "../../shared/errors.ts";
import { AuthStoreError, prepareStoreFile } from "./store_file.ts";

/** Opens a Deno KV file; `Deno.openKv` itself stands in the composition root alone. */
export type OpenKv = (path: string) => Promise<Deno.Kv>;

const versionKey = ["version"];
const version = 1;

/** The bridge's authentication data. What is in it belongs to the classes that take one of these. */
export class AuthStore implements Disposable {
  private constructor(readonly kv: Deno.Kv, private readonly path: string) {}

  /**
   * Opens `path`, creating it with mode 0600. Throws `AuthStoreError` when what stands there is corrupt,
   * of another program, or of a version that this bridge does not know; nothing is changed then.
   */
  static async open(path: string, openKv: OpenKv): Promise<AuthStore> {
    await prepareStoreFile(path);
    let kv: Deno.Kv | null = null;
    try {
      kv = await openKv(path);
      await checkVersion(kv, path);
      return new AuthStore(kv, path);
    } catch (thrown) {
      kv?.close();
      if (thrown instanceof AuthStoreError) throw thrown;
      throw new AuthStoreError(path, messageOf(thrown), { cause: thrown });
    }
  }

  /** Commits; false when a check did not hold. Throws `storageFailed` when the disk refuses. */
  async commit(operation: Deno.AtomicOperation): Promise<boolean> {
    try {
      return (await operation.commit()).ok;
    } catch (thrown) {
      throw fail("storageFailed", { file: this.path, reason: messageOf(thrown) }, {
        cause: thrown,
      });
    }
  }

  [Symbol.dispose](): void {
    this.kv.close();
  }
}

async function checkVersion(kv: Deno.Kv, path: string): Promise<void> {
  const stored = await kv.get(versionKey);
  if (stored.value === version) return;
  if (stored.versionstamp !== null) {
    throw new AuthStoreError(
      path,
      `its version is ${Deno.inspect(stored.value)}, and this bridge knows ${version} alone`,
    );
  }
  for await (const _entry of kv.list({ prefix: [] }, { limit: 1 })) {
    throw new AuthStoreError(path, "it is a Deno KV database of some other program");
  }
  await kv.atomic().check(stored).set(versionKey, version).commit();
}
