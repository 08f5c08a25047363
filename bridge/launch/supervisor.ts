/** Keeps one daemon running: started, watched, restarted with backoff, stopped. */
import {
  type Daemon,
  type DaemonExit,
  type DaemonOptions,
  startDaemon,
} from "../../shared/host/daemon.ts";
import { limits } from "../../shared/limits.ts";
import { CliFailure } from "../cli/failure.ts";
import type { Notice } from "./notice.ts";
import { readLogLine } from "./notice.ts";

export interface SupervisorOptions {
  /** What people call it: `bridge`, `ship aurora`. */
  readonly label: string;
  /** The port asked for; 0 takes a free one, and every restart takes that one again. */
  readonly port: number;
  /** Program, arguments and environment for a start on `port`. */
  readonly command: (port: number) => Pick<DaemonOptions, "path" | "args" | "env">;
  readonly notice: (notice: Notice) => void;
}

/** A first start includes compiling the program's modules. */
const startMs = 60_000;
/** Log lines kept while a daemon starts. */
const heldMax = 100;
/** After living this long a daemon counts as healthy: its next death waits the least again. */
const healthyMs = 30_000;

/** A daemon that never listened; `daemonExitCode` says why where the daemon has codes for it. */
export class StartFailure extends CliFailure {
  constructor(message: string, readonly daemonExitCode: number | null) {
    super(message);
  }
}

/** One daemon under supervision. Constructing it starts nothing; disposing stops it for good. */
export class Supervisor implements AsyncDisposable {
  #daemon: Daemon | null = null;
  #port: number;
  #waitMs: number = limits.reconnectMinMs;
  #watch: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor(private readonly options: SupervisorOptions) {
    this.#port = options.port;
  }

  /** Starts it and gives its URL. Throws `CliFailure` with its last words when it never listens. */
  async start(): Promise<string> {
    const url = await this.#launch();
    if (url === null) {
      const exit = await this.#daemon?.stop();
      throw new StartFailure(
        `${this.options.label} did not start${lastWords(exit)}`,
        exit?.code ?? null,
      );
    }
    this.options.notice({ kind: "started", daemon: this.options.label, url });
    this.#watch = this.#keep();
    return url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#daemon?.stop();
    await this.#watch;
  }

  /** The process id of the daemon now running, for tests and reports. */
  get pid(): number | null {
    return this.#daemon?.pid ?? null;
  }

  async #launch(): Promise<string | null> {
    const { label, command, notice } = this.options;
    // The last words of a daemon that never listens are told with its death, not twice.
    let held: Notice[] | null = [];
    const daemon = startDaemon({
      ...command(this.#port),
      onErrorLine: (line) => {
        const log: Notice = { kind: "log", daemon: label, ...readLogLine(line) };
        if (held === null) notice(log);
        else if (held.length < heldMax) held.push(log);
      },
    });
    this.#daemon = daemon;
    const url = await daemon.listening(startMs);
    if (url === null) return null;
    this.#port = Number(new URL(url).port) || this.#port;
    for (const log of held) notice(log);
    held = null;
    return url;
  }

  /** Until disposed: waits for the daemon's death and starts it again. */
  async #keep(): Promise<void> {
    while (this.#daemon !== null) {
      const startedMs = performance.now();
      const exit = await this.#daemon.ended;
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - startedMs > healthyMs) this.#waitMs = limits.reconnectMinMs;
      await this.#revive(exit);
      if (this.#stopping.signal.aborted) return void await this.#daemon.stop();
    }
  }

  async #revive(exit: DaemonExit): Promise<void> {
    const { label, notice } = this.options;
    let last = exit;
    for (;;) {
      const restartMs = this.#waitMs;
      this.#waitMs = Math.min(this.#waitMs * 2, limits.reconnectMaxMs);
      notice({
        kind: "died",
        daemon: label,
        how: last.signal ?? `exit code ${last.code}`,
        lastLine: lastLine(last),
        restartMs,
      });
      await pause(restartMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      const url = await this.#launch();
      if (url !== null) return notice({ kind: "restarted", daemon: label, url });
      if (this.#daemon !== null) last = await this.#daemon.stop();
      if (this.#stopping.signal.aborted) return;
    }
  }
}

function lastLine({ lastErrorLines }: DaemonExit): string {
  const line = lastErrorLines.findLast((one) => one.trim() !== "");
  return line === undefined ? "" : readLogLine(line).text;
}

function lastWords(exit: DaemonExit | undefined): string {
  if (exit === undefined) return "";
  const lines = exit.lastErrorLines.filter((line) => line.trim() !== "")
    .map((line) => `\n  ${readLogLine(line).text}`);
  return ` (${exit.signal ?? `exit code ${exit.code}`})${lines.length > 0 ? ":" : ""}${
    lines.join("")
  }`;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
