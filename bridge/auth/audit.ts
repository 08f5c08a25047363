/** The audit log, `<data dir>/audit.jsonl`: who did what to what, one line each, kept within a bound. */
import { Failure, type FailureCode, messageOf } from "../../shared/errors.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import { actorName, type Principal } from "./principals.ts";

export const auditActions = [
  "login",
  "logout",
  "user.create",
  "user.delete",
  "user.role",
  "user.email",
  "user.password",
  "ship.register",
  "ship.remove",
  "repo.register",
  "repo.remove",
  "workspace.create",
  "workspace.delete",
  "workspace.activate",
  "workspace.deactivate",
  "terminal.attach",
] as const;
export type AuditAction = (typeof auditActions)[number];

export interface AuditEntry {
  /** `actorName` of the principal. */
  readonly actor: string;
  readonly action: AuditAction;
  /** The user, ship, repo or workspace key. */
  readonly target: string;
  /** `ok`, or the failure that it ended with. */
  readonly outcome: "ok" | FailureCode | "relayed";
  /** Of the connection. */
  readonly address: string;
}

export interface AuditOptions {
  readonly path: string;
  readonly log: Log;
  readonly now: () => Date;
  /** A file that would grow beyond is rotated (default 64 MiB). */
  readonly bytesMax?: number;
}

/** `audit.jsonl.1` is the newest of the old ones; what would become number 9 is deleted. */
export const auditFilesKeptMax = 8;
/** Lines not yet on disk; more are dropped, and the log says how many. */
const pendingLinesMax = 10_000;

/** Lines are written in the order of `record`, in the background; disposing writes the rest. */
export class Audit implements AsyncDisposable {
  #file: Deno.FsFile | null = null;
  #bytes = 0;
  #pending: string[] = [];
  #dropped = 0;
  #writing: Promise<void> | null = null;

  constructor(private readonly options: AuditOptions) {}

  /** Opens the file, mode 0600. Throws when it cannot be. */
  async start(): Promise<void> {
    await this.#open();
  }

  record(entry: AuditEntry): void {
    if (this.#pending.length >= pendingLinesMax) {
      this.#dropped += 1;
      return;
    }
    this.#pending.push(JSON.stringify({ at: this.options.now().toISOString(), ...entry }) + "\n");
    this.#writing ??= this.#drain().finally(() => this.#writing = null);
  }

  /** Runs `work` and records how it ended; what it throws is thrown on. */
  async track<Result>(
    what: { principal: Principal; action: AuditAction; target: string; address: string },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { principal, ...rest } = what;
    const entry = { actor: actorName(principal), ...rest };
    try {
      const result = await work();
      this.record({ ...entry, outcome: "ok" });
      return result;
    } catch (thrown) {
      this.record({ ...entry, outcome: thrown instanceof Failure ? thrown.code : "internal" });
      throw thrown;
    }
  }

  /** Waits until everything recorded so far is written, or was given up. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
    this.#file?.close();
    this.#file = null;
  }

  async #drain(): Promise<void> {
    // Lines recorded in this turn of the event loop go out together.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const lines = this.#pending.splice(0, 1_000);
      try {
        for (const line of lines) await this.#append(line);
      } catch (thrown) {
        // What was done is done: a full disk must not stop people from working, but it must be known.
        this.options.log.error("could not write the audit log", {
          file: this.options.path,
          cause: messageOf(thrown),
        });
      }
    }
    if (this.#dropped > 0) {
      this.options.log.error("audit lines were dropped: they came faster than the disk took them", {
        dropped: this.#dropped,
      });
      this.#dropped = 0;
    }
  }

  async #append(line: string): Promise<void> {
    const bytes = new TextEncoder().encode(line);
    const bytesMax = this.options.bytesMax ?? limits.auditBytesMax;
    if (this.#bytes > 0 && this.#bytes + bytes.length > bytesMax) await this.#rotate();
    const file = this.#file ?? await this.#open();
    let written = 0;
    while (written < bytes.length) written += await file.write(bytes.subarray(written));
    this.#bytes += bytes.length;
  }

  async #open(): Promise<Deno.FsFile> {
    const { path } = this.options;
    const file = await Deno.open(path, { read: true, append: true, create: true, mode: 0o600 });
    try {
      await Deno.chmod(path, 0o600);
      this.#bytes = (await file.stat()).size;
      if (this.#bytes > 0 && !await endsLine(file, this.#bytes)) {
        // A crash cut the last line short; the next one must stand by itself.
        this.#bytes += await file.write(new TextEncoder().encode("\n"));
      }
    } catch (thrown) {
      file.close();
      throw thrown;
    }
    this.#file = file;
    return file;
  }

  async #rotate(): Promise<void> {
    const { path } = this.options;
    this.#file?.close();
    this.#file = null;
    for (let number = auditFilesKeptMax; number > 1; number -= 1) {
      await renameIfPresent(`${path}.${number - 1}`, `${path}.${number}`);
    }
    await renameIfPresent(path, `${path}.1`);
    await this.#open();
  }
}

async function endsLine(file: Deno.FsFile, size: number): Promise<boolean> {
  await file.seek(size - 1, Deno.SeekMode.Start);
  const last = new Uint8Array(1);
  await file.read(last);
  return last[0] === 0x0a;
}

async function renameIfPresent(from: string, to: string): Promise<void> {
  try {
    await Deno.rename(from, to);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}
