/**
 * The second door to other programs: a child that lives as long as its owner wants (`command.ts` is the
 * one for programs that run and end). Cleared environment, argument vector only; standard output and
 * error are handed over line by line; the end is asked for (TERM) and then made (KILL).
 */

export interface DaemonOptions {
  /** Absolute path of the program. */
  readonly path: string;
  readonly args: readonly string[];
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly onLine?: (line: string) => void;
  readonly onErrorLine?: (line: string) => void;
  /** Time between TERM and KILL (default 6 s: a daemon has 5 s to shut down). */
  readonly graceMs?: number;
}

export interface DaemonExit {
  readonly code: number;
  readonly signal: string | null;
  /** The newest lines of standard error, oldest first, for a report of its death. */
  readonly lastErrorLines: readonly string[];
}

/** A child under way. Disposing stops it and waits until it is gone. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number;
  /** Settles when the child is gone and its output has been read; never rejects. */
  readonly ended: Promise<DaemonExit>;
  /**
   * The URL of its line `listening on <url>`; null when it ended, or `timeoutMs` passed, without one.
   */
  listening(timeoutMs: number): Promise<string | null>;
  /** TERM, then KILL after the grace; settles when the child is gone. */
  stop(): Promise<DaemonExit>;
}

const graceDefaultMs = 6_000;
/** A grandchild may hold the pipes after the child is gone; reading on is bounded. */
const pipesMs = 1_000;
const lineCharactersMax = 16_384;
const lastErrorLinesMax = 20;

/** Starts `options.path` in a process group of its own, so that Ctrl-C reaches it through its owner only. */
export function startDaemon(options: DaemonOptions): Daemon {
  return new Child(options);
}

class Child implements Daemon {
  readonly ended: Promise<DaemonExit>;
  readonly #child: Deno.ChildProcess;
  readonly #url = Promise.withResolvers<string | null>();
  readonly #lastErrorLines: string[] = [];
  #gone = false;
  #stopping = false;

  constructor(private readonly options: DaemonOptions) {
    this.#child = new Deno.Command(options.path, {
      args: [...options.args],
      env: { ...options.env },
      clearEnv: true,
      cwd: options.cwd,
      detached: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.ended = this.#run();
  }

  get pid(): number {
    return this.#child.pid;
  }

  async listening(timeoutMs: number): Promise<string | null> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), timeoutMs);
    });
    try {
      return await Promise.race([this.#url.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(): Promise<DaemonExit> {
    if (this.#stopping || this.#gone) return await this.ended;
    this.#stopping = true;
    this.#signal("SIGTERM");
    const kill = setTimeout(
      () => this.#signal("SIGKILL"),
      this.options.graceMs ?? graceDefaultMs,
    );
    try {
      return await this.ended;
    } finally {
      clearTimeout(kill);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    try {
      this.#child.kill(signal);
    } catch {
      // It is gone already, which is what was wanted.
    }
  }

  async #run(): Promise<DaemonExit> {
    const cut = new AbortController();
    const read = Promise.all([
      eachLine(this.#child.stdout, cut.signal, (line) => this.#outputLine(line)),
      eachLine(this.#child.stderr, cut.signal, (line) => this.#errorLine(line)),
    ]);
    const status = await this.#child.status;
    this.#gone = true;
    const timer = setTimeout(() => cut.abort(), pipesMs);
    await read;
    clearTimeout(timer);
    this.#url.resolve(null);
    return { code: status.code, signal: status.signal, lastErrorLines: this.#lastErrorLines };
  }

  #outputLine(line: string): void {
    const url = /^listening on (https?:\/\/\S+)$/.exec(line)?.[1];
    if (url !== undefined) this.#url.resolve(url);
    this.options.onLine?.(line);
  }

  #errorLine(line: string): void {
    this.#lastErrorLines.push(line);
    if (this.#lastErrorLines.length > lastErrorLinesMax) this.#lastErrorLines.shift();
    this.options.onErrorLine?.(line);
  }
}

/** Hands over each line of `source`, cut at `lineCharactersMax`, until it ends or `signal` aborts. */
async function eachLine(
  source: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<void> {
  const reader = source.getReader();
  const release = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", release, { once: true });
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done || value === undefined) break;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, lineCharactersMax);
    for (const line of lines) onLine(line.slice(0, lineCharactersMax).replace(/\r$/, ""));
  }
  signal.removeEventListener("abort", release);
  if (rest !== "") onLine(rest);
}
