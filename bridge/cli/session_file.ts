/** Where the command line keeps its sessions: one file, one session for each bridge. */
import { dirname, join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../shared/errors.ts";
import { JsonFile } from "../../shared/host/json_file.ts";
import { CliFailure } from "./failure.ts";

const storedSessionSchema = z.object({
  token: z.string().regex(/^[\x21-\x7e]{1,512}$/, "is no token"),
  username: z.string(),
  expiresAt: z.iso.datetime(),
});

/** What a sign-in leaves behind. The token is a secret. */
export interface StoredSession {
  readonly token: string;
  readonly username: string;
  /** ISO 8601; the bridge decides, this is for people. */
  readonly expiresAt: string;
}

const sessionsSchema = z.record(z.string(), storedSessionSchema);

export interface SessionFilePlace {
  /** `XDG_CONFIG_HOME`, used when it is absolute, as the XDG base directory specification asks. */
  readonly configHome: string | undefined;
  readonly home: string;
}

/** `$XDG_CONFIG_HOME/grid/session.json`, else `~/.config/grid/session.json`. */
export function sessionFilePath({ configHome, home }: SessionFilePlace): string {
  const base = configHome?.startsWith("/") ? configHome : join(home, ".config");
  return join(base, "grid", "session.json");
}

/**
 * The key of a bridge: its URL without user, query, fragment and trailing slash. The names of this very
 * host are one, so that a session from `localhost` also serves `127.0.0.1` on the same port.
 */
export function sessionKey(bridgeUrl: string): string {
  const url = new URL(bridgeUrl);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  const host = local ? `127.0.0.1${url.port === "" ? "" : `:${url.port}`}` : url.host;
  return `${url.protocol}//${host}${url.pathname.replace(/\/+$/, "")}`;
}

/** How long one process waits for another that is writing the file. */
const lockMs = 2_000;
const lockPollMs = 20;

/**
 * The sessions by bridge. The file has mode 0600 in a directory of mode 0700; wider ones are narrowed.
 * Every method throws `StoredFileError`, which names the file, when it cannot be understood, and then
 * leaves it as it is; `storageFailed` or `CliFailure` when it cannot be written.
 */
export class SessionFile {
  readonly #file: JsonFile<typeof sessionsSchema>;

  constructor(readonly path: string) {
    this.#file = new JsonFile({ path, version: 1, key: "sessions", schema: sessionsSchema });
  }

  async read(bridgeUrl: string): Promise<StoredSession | null> {
    return (await this.#sessions())[sessionKey(bridgeUrl)] ?? null;
  }

  async write(bridgeUrl: string, session: StoredSession): Promise<void> {
    const { token, username, expiresAt } = session;
    await this.#change((sessions) => ({
      ...sessions,
      [sessionKey(bridgeUrl)]: { token, username, expiresAt },
    }));
  }

  /** With `token`, only when that is still the one stored: another process may have signed in since. */
  async remove(bridgeUrl: string, token?: string): Promise<void> {
    const key = sessionKey(bridgeUrl);
    const stored = await this.read(bridgeUrl);
    if (stored === null) return;
    await this.#change(({ [key]: found, ...others }) => {
      if (found === undefined || (token !== undefined && found.token !== token)) return null;
      return others;
    });
  }

  async #sessions(): Promise<Readonly<Record<string, StoredSession>>> {
    await narrow(this.path, 0o600);
    return await this.#file.read() ?? {};
  }

  /** Reads, changes and writes while no other process does; null leaves the file as it is. */
  async #change(
    change: (
      sessions: Readonly<Record<string, StoredSession>>,
    ) => Readonly<Record<string, StoredSession>> | null,
  ): Promise<void> {
    const directory = dirname(this.path);
    await makePrivateDirectory(directory);
    using _lock = await lockWaiting(directory);
    const changed = change(await this.#sessions());
    if (changed !== null) await this.#file.write(changed);
  }
}

async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw new CliFailure(
      `cannot make ${path}, where sessions are kept (${messageOf(thrown)}): ` +
        "make it yourself, or set GRID_TOKEN instead of signing in",
      { cause: thrown },
    );
  }
  await narrow(path, 0o700);
}

/** Takes from others what `mode` does not give them; only the owner can, so a stranger's file is an error. */
async function narrow(path: string, mode: number): Promise<void> {
  try {
    const info = await Deno.stat(path);
    if (((info.mode ?? mode) & 0o077) !== 0) await Deno.chmod(path, mode);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return;
    throw new CliFailure(
      `cannot keep ${path} from other users (${messageOf(thrown)}): make it yours, ` +
        `with mode ${mode.toString(8)}, or move it away`,
      { cause: thrown },
    );
  }
}

/** An advisory lock (flock) on the directory itself: it leaves no file behind. */
async function lockWaiting(directory: string): Promise<Disposable> {
  const handle = await Deno.open(directory, { read: true });
  for (let waitedMs = 0; !(await handle.tryLock(true)); waitedMs += lockPollMs) {
    if (waitedMs >= lockMs) {
      handle.close();
      throw new CliFailure(
        `another program has been holding ${directory} for ${lockMs} ms: try again when it is done`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
  return handle;
}
