/**
 * git calls inside one existing clone, which is taken to be hostile: its hooks, drivers and filters do
 * not run, its transports are closed, and it cannot move its own working tree (hardening 4).
 */
import { fail } from "../../shared/errors.ts";
import {
  configurationEnvironment,
  type GitConfiguration,
  gitEnvironment,
} from "../../shared/git/environment.ts";
import { reasonOf } from "../../shared/git/remote.ts";
import type { CommandLane, Running, RunOptions, RunResult } from "../../shared/host/command.ts";
import { dirname, join } from "node:path";
import { neutralConfiguration, neutralFilters } from "./neutral.ts";
import { parseScopedConfiguration } from "./parse.ts";

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly stdin?: string;
  /** Another index than the clone's (absolute path). */
  readonly indexFile?: string;
}

const configurationMs = 10_000;

/** What one call printed, and whether it succeeded. */
export interface Outcome {
  readonly ok: boolean;
  readonly stdout: string;
  /** Why not, in one line. */
  readonly reason: string;
}

export class WorkingCopy {
  #filters: Promise<GitConfiguration> | null = null;

  constructor(private readonly lane: CommandLane, readonly directory: string) {}

  /** Runs git and says how it went; only a full queue or an abort throws. */
  async call(args: readonly string[], options: CallOptions): Promise<Outcome> {
    const result = await this.lane.run("git", args, await this.#options(options));
    options.signal?.throwIfAborted();
    const ok = result.ending === "exited" && result.code === 0;
    return {
      ok,
      stdout: new TextDecoder().decode(result.stdout),
      reason: ok ? "" : reasonOfResult(result),
    };
  }

  /** Runs git and gives its output. Throws `commandFailed`. */
  async read(args: readonly string[], options: CallOptions): Promise<string> {
    const outcome = await this.call(args, options);
    if (outcome.ok) return outcome.stdout;
    throw fail("commandFailed", { what: `git ${args[0]}`, reason: outcome.reason });
  }

  /** Starts git for output that is read as it comes. */
  async start(args: readonly string[], options: CallOptions): Promise<Running> {
    return await this.lane.start("git", args, await this.#options(options));
  }

  /**
   * Where git finds the working tree when the clone decides for itself, or null when it finds none.
   * (Every other call is told.)
   */
  async topLevel(): Promise<string | null> {
    const result = await this.lane.run("git", ["rev-parse", "--show-toplevel"], {
      cwd: this.directory,
      env: {
        ...this.#environment(),
        ...configurationEnvironment(neutralConfiguration),
        GIT_DIR: join(this.directory, ".git"),
      },
      timeoutMs: configurationMs,
    });
    if (result.ending !== "exited" || result.code !== 0) return null;
    return new TextDecoder().decode(result.stdout).replace(/\n$/, "");
  }

  async #options(options: CallOptions): Promise<RunOptions> {
    this.#filters ??= this.#readFilters();
    const configuration = [...neutralConfiguration, ...(await this.#filters)];
    return {
      cwd: this.directory,
      env: {
        ...this.#environment(),
        ...this.#pinned(),
        ...configurationEnvironment(configuration),
        ...(options.indexFile === undefined ? {} : { GIT_INDEX_FILE: options.indexFile }),
      },
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      stdin: options.stdin,
    };
  }

  async #readFilters(): Promise<GitConfiguration> {
    const args = ["config", "--show-scope", "--null", "--get-regexp", "^filter\\."];
    const result = await this.lane.run("git", args, {
      cwd: this.directory,
      env: { ...this.#environment(), ...this.#pinned() },
      timeoutMs: configurationMs,
    });
    // 1 is git's way to say that no key matched.
    if (result.ending !== "exited" || result.code > 1) {
      throw fail("commandFailed", { what: "git config", reason: reasonOfResult(result) });
    }
    return neutralFilters(parseScopedConfiguration(new TextDecoder().decode(result.stdout)));
  }

  #environment() {
    return {
      ...gitEnvironment({ protocols: [], ceilingDirectories: [dirname(this.directory)] }),
      GIT_LITERAL_PATHSPECS: "1",
    };
  }

  /** Given both, git neither searches nor lets `core.worktree` lead elsewhere. */
  #pinned() {
    return { GIT_DIR: join(this.directory, ".git"), GIT_WORK_TREE: this.directory };
  }
}

function reasonOfResult(result: RunResult): string {
  switch (result.ending) {
    case "exited":
      return reasonOf(result.stderr);
    case "timeout":
      return "git took too long";
    case "aborted":
      return "git was stopped";
    case "overflow":
      return "git printed too much";
  }
}
