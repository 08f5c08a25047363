/**
 * The one door to other programs (`Deno.Command`). Argument vectors only, a cleared environment, bounded
 * time and output, and an end that reaches the whole process group (killing git alone leaves its
 * `git-remote-http` alive with the pipe open). Why it is done like this: docs/decisions/0003-ending-programs.md.
 */
import { fail, type Failure } from "../errors.ts";
import { Semaphore } from "./semaphore.ts";

/** Absolute paths of the programs that a lane may run, by the name the code uses. */
export type Programs = Readonly<Record<string, string>>;

export interface LaneOptions {
  readonly programs: Programs;
  /** `timeout` itself. */
  readonly timeoutPath: string;
  /** The whole environment of every child, before a call's own `env`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly concurrencyMax: number;
  readonly queueMax: number;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  readonly timeoutMs: number;
  /** More output than this ends the program (default 16 MiB). */
  readonly stdoutBytesMax?: number;
  /** Of standard error the newest bytes are kept (default 64 KiB). */
  readonly stderrBytesMax?: number;
  readonly signal?: AbortSignal;
  /** Sees standard error as it comes, for progress. */
  readonly onStderr?: (text: string) => void;
}

/** How a program ended: by itself, or because one of its bounds was reached. */
export type Ending = "exited" | "timeout" | "aborted" | "overflow";

export interface RunResult {
  readonly ending: Ending;
  /** The exit code; 124 or 128+n when a bound ended it. */
  readonly code: number;
  readonly stdout: Uint8Array<ArrayBuffer>;
  readonly stderr: string;
}

/** A program under way whose output is read as it comes. */
export interface Running {
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Settles when the program is gone and its streams are closed; never rejects. */
  readonly done: Promise<Omit<RunResult, "stdout">>;
  /** Asks the process group to end, and kills it after the grace period. */
  stop(): void;
}

/** A program that is also spoken to: it lives until it ends by itself, `stop`, or its own reading ends. */
export interface Conversation extends Running {
  /** The caller closes or aborts it; a write waits for room in the pipe. */
  readonly stdin: WritableStream<Uint8Array<ArrayBuffer>>;
}

/** `timeout` takes no time at all for no bound at all. */
const unboundedMs = 0;
const graceMs = 2_000;
const stdoutBytesDefault = 16 * 1024 * 1024;
const stderrBytesDefault = 64 * 1024;

/** Runs programs, a bounded number at once. Constructing one starts nothing. */
export class CommandLane {
  readonly #permits: Semaphore;

  constructor(private readonly options: LaneOptions) {
    this.#permits = new Semaphore(options.concurrencyMax, options.queueMax);
  }

  /** Runs to the end and collects standard output. Throws `tooBusy` when the queue is full. */
  async run(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
    const running = await this.start(program, args, options);
    const bytesMax = options.stdoutBytesMax ?? stdoutBytesDefault;
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    let overflow = false;
    for await (const chunk of running.stdout) {
      if (overflow) continue;
      bytes += chunk.length;
      if (bytes > bytesMax) {
        overflow = true;
        running.stop();
      } else chunks.push(chunk);
    }
    const done = await running.done;
    return { ...done, ending: overflow ? "overflow" : done.ending, stdout: concat(chunks) };
  }

  /**
   * Starts a program and hands over its standard output. The permit is held until the program is gone,
   * so the caller must read or cancel `stdout`.
   */
  async start(program: string, args: readonly string[], options: RunOptions): Promise<Running> {
    const permit = await this.#permits.acquire(options.signal);
    if (permit === null) throw this.#busy(program);
    try {
      const child = this.#spawn(program, args, options);
      return new Child(child, options, permit, this.options.timeoutPath);
    } catch (thrown) {
      permit[Symbol.dispose]();
      throw thrown;
    }
  }

  /**
   * Starts a program without a bound in time, standard input open. The permit is held until the program
   * is gone; the caller must read or cancel `stdout` and end `stdin`.
   */
  async converse(
    program: string,
    args: readonly string[],
    options: Omit<RunOptions, "timeoutMs" | "stdin" | "stdoutBytesMax">,
  ): Promise<Conversation> {
    const permit = await this.#permits.acquire(options.signal);
    if (permit === null) throw this.#busy(program);
    try {
      const child = this.#spawn(program, args, { ...options, stdin: "", timeoutMs: unboundedMs });
      const running = new Child(
        child,
        { ...options, timeoutMs: unboundedMs },
        permit,
        this.options.timeoutPath,
      );
      const { stdout, done } = running;
      return { stdin: child.stdin, stdout, done, stop: () => running.stop() };
    } catch (thrown) {
      permit[Symbol.dispose]();
      throw thrown;
    }
  }

  #busy(program: string): Failure {
    return fail("tooBusy", { what: `${program} commands` });
  }

  #spawn(
    program: string,
    args: readonly string[],
    options: RunOptions,
  ): Deno.ChildProcess {
    const path = this.options.programs[program];
    if (path === undefined) throw new Error(`program ${program} is not in this lane's table`);
    return new Deno.Command(this.options.timeoutPath, {
      args: ["--foreground", "-k", seconds(graceMs), seconds(options.timeoutMs), path, ...args],
      cwd: options.cwd,
      clearEnv: true,
      env: { ...this.options.environment, ...options.env },
      // A session, and so a process group, of its own.
      detached: true,
      stdin: options.stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }
}

/** One child, from spawn until it is gone. */
class Child implements Running {
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly done: Promise<Omit<RunResult, "stdout">>;
  #stopped: Ending | null = null;
  #ended: Promise<void> = Promise.resolve();
  readonly #streamsMustEnd = new AbortController();

  constructor(
    private readonly child: Deno.ChildProcess,
    private readonly options: RunOptions,
    permit: Disposable,
    private readonly timeoutPath: string,
  ) {
    const abort = () => this.#stop("aborted");
    options.signal?.addEventListener("abort", abort, { once: true });
    if (options.signal?.aborted) abort();
    this.stdout = cutAt(child.stdout, this.#streamsMustEnd.signal, () => this.#stop("aborted"));
    this.done = this.#finish().finally(() => {
      options.signal?.removeEventListener("abort", abort);
      permit[Symbol.dispose]();
    });
  }

  stop(): void {
    this.#stop("aborted");
  }

  #stop(ending: Ending): void {
    if (this.#stopped !== null) return;
    this.#stopped = ending;
    this.#ended = this.#endGroup();
  }

  /** TERM to the whole group, and KILL when the grace period is over and it has not ended. */
  async #endGroup(): Promise<void> {
    await this.#signalGroup("TERM");
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise<void>((resolve) => timer = setTimeout(resolve, graceMs));
    await Promise.race([grace, this.child.status]);
    clearTimeout(timer);
    // Also when the leader has gone: the rest of its group may have ignored the TERM.
    await this.#signalGroup("KILL");
  }

  /** The shell's `kill` reaches a group without the right to signal any process, which `Deno.kill` asks for. */
  async #signalGroup(signal: "TERM" | "KILL"): Promise<void> {
    const script = `kill -s ${signal} -- -${this.child.pid} 2>/dev/null`;
    await new Deno.Command(this.timeoutPath, {
      args: [seconds(graceMs), "/bin/sh", "-c", script],
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
  }

  async #finish(): Promise<Omit<RunResult, "stdout">> {
    const stderr = this.#readStderr();
    const fed = this.#feedStdin();
    const status = await this.child.status;
    // What the leader left running in its group holds pipes and burns time: nothing outlives the call.
    if (this.#stopped === null && status.code === 124) this.#stopped = "timeout";
    await this.#ended;
    if (this.#stopped === "timeout") await this.#signalGroup("KILL");
    await fed;
    // A grandchild outside the group could still hold the pipes: reading on is bounded.
    const cut = setTimeout(() => this.#streamsMustEnd.abort(), graceMs);
    const text = await stderr;
    clearTimeout(cut);
    // Standard output may have an unread rest that its reader wants; only a held pipe is cut.
    if (this.#stopped !== null) this.#streamsMustEnd.abort();
    const ending = this.#stopped ??
      (status.code === 124 || status.code === 137 ? "timeout" : "exited");
    return { ending, code: status.code, stderr: text };
  }

  async #readStderr(): Promise<string> {
    const bytesMax = this.options.stderrBytesMax ?? stderrBytesDefault;
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of cutAt(this.child.stderr, this.#streamsMustEnd.signal)) {
      const piece = decoder.decode(chunk, { stream: true });
      this.options.onStderr?.(piece);
      text = (text + piece).slice(-bytesMax);
    }
    return text;
  }

  async #feedStdin(): Promise<void> {
    if (this.options.stdin === undefined) return;
    const bytes = typeof this.options.stdin === "string"
      ? new TextEncoder().encode(this.options.stdin)
      : this.options.stdin;
    const writer = this.child.stdin.getWriter();
    try {
      await writer.write(bytes);
      await writer.close();
    } catch {
      // The program ended without reading all of its input; its exit code says what that meant.
    } finally {
      writer.releaseLock();
    }
  }
}

/** `source` until it ends or `signal` aborts; cancelling it calls `onCancel` and drains no further. */
function cutAt(
  source: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  onCancel: () => void = () => {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  const release = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", release, { once: true });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) {
        signal.removeEventListener("abort", release);
        controller.close();
      } else controller.enqueue(value);
    },
    cancel() {
      signal.removeEventListener("abort", release);
      onCancel();
      release();
    },
  }, { highWaterMark: 0 });
}

function concat(chunks: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(3)}s`;
