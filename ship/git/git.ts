/**
 * The one factory of the ship's git calls (hardening 1 to 4, 7, 8). Two lanes, so that slow clones never
 * keep a listing waiting: together they run at most `limits.gitConcurrencyMax` gits.
 */
import { fail } from "../../shared/errors.ts";
import { gitEnvironment } from "../../shared/git/environment.ts";
import { parseRemoteRefs, type RemoteRefs } from "../../shared/git/refs.ts";
import { listRemoteCall, reasonOf, remoteEnvironment } from "../../shared/git/remote.ts";
import type { CloneProtocol, CloneUrl } from "../../shared/git/url.ts";
import { CommandLane, type LaneOptions, type RunResult } from "../../shared/host/command.ts";
import { limits } from "../../shared/limits.ts";
import type { CloneProgress } from "../../shared/schema/workspace.ts";
import { progressReader } from "./parse.ts";
import { WorkingCopy } from "./working_copy.ts";

export interface GitLanes {
  readonly network: CommandLane;
  readonly local: CommandLane;
}

const networkConcurrencyMax = limits.gitConcurrencyMax / 2;
const listRemoteMs = 60_000;
// The bridge gives a create `shipCreateMs`; ours ends first, so that its answer says why.
const cloneMs = limits.shipCreateMs - 2 * listRemoteMs;
const quickMs = 10_000;

/** The two lanes of the ship's gits; `programs` must name `git`. */
export function createGitLanes(
  options: Omit<LaneOptions, "concurrencyMax" | "queueMax">,
): GitLanes {
  const lane = (concurrencyMax: number) =>
    new CommandLane({ ...options, concurrencyMax, queueMax: limits.gitQueueMax });
  return {
    network: lane(networkConcurrencyMax),
    local: lane(limits.gitConcurrencyMax - networkConcurrencyMax),
  };
}

export interface GitOptions {
  readonly lanes: GitLanes;
  /** What a clone URL may speak (`--clone-protocols`). */
  readonly protocols: readonly CloneProtocol[];
  /** The operator's ssh options, such as `-i /path/key`. */
  readonly sshOptions?: string;
}

export interface CloneRequest {
  readonly url: CloneUrl;
  /** An empty directory, or none yet; absolute. */
  readonly destination: string;
  /** A branch or tag that the remote has; null takes its default branch. */
  readonly branch: string | null;
  readonly onProgress?: (progress: CloneProgress) => void;
}

export class Git {
  constructor(private readonly options: GitOptions) {}

  get protocols(): readonly CloneProtocol[] {
    return this.options.protocols;
  }

  /** The remote's HEAD, and the branch and tag named exactly `name`. Throws `cloneFailed`. */
  async lookUp(url: CloneUrl, name: string): Promise<RemoteRefs> {
    const call = listRemoteCall(url, ["HEAD", `refs/heads/${name}`, `refs/tags/${name}`]);
    const result = await this.options.lanes.network.run("git", call.args, {
      cwd: "/",
      env: { ...this.#networkEnvironment(), ...call.env },
      timeoutMs: listRemoteMs,
    });
    if (!succeeded(result)) throw cloneFailed(url, result);
    return parseRemoteRefs(new TextDecoder().decode(result.stdout));
  }

  /** Clones; submodules, hooks and templates stay out, and the credential is not stored. Throws `cloneFailed`. */
  async clone(request: CloneRequest): Promise<void> {
    const { url, destination, branch, onProgress } = request;
    const args = [
      "clone",
      "--progress",
      "--no-local",
      "--template=",
      "--no-recurse-submodules",
      "--origin=origin",
      ...(branch === null ? [] : [`--branch=${branch}`]),
      "--",
      url.forGit,
      destination,
    ];
    const result = await this.options.lanes.network.run("git", args, {
      cwd: "/",
      env: {
        ...this.#networkEnvironment(),
        ...remoteEnvironment(url, [["advice.detachedHead", "false"]]),
      },
      timeoutMs: cloneMs,
      onStderr: onProgress === undefined ? undefined : progressReader(onProgress),
    });
    if (!succeeded(result)) throw cloneFailed(url, result);
  }

  /** True when git takes `branch` as a branch name; `-…`, `HEAD` and `@` are none. */
  async isBranchName(branch: string): Promise<boolean> {
    if (branch.startsWith("-") || branch === "HEAD" || branch === "@") return false;
    // deno-lint-ignore no-control-regex -- a NUL cannot stand in an argument at all
    if (/[\u0000-\u001f\u007f]/.test(branch) || !branch.isWellFormed()) return false;
    const result = await this.options.lanes.local.run(
      "git",
      ["check-ref-format", "--branch", branch],
      { cwd: "/", env: gitEnvironment({ protocols: [] }), timeoutMs: quickMs },
    );
    return succeeded(result) && new TextDecoder().decode(result.stdout) === `${branch}\n`;
  }

  /** Calls in the clone at `directory` (absolute), for one operation: what it defines is read once. */
  in(directory: string): WorkingCopy {
    return new WorkingCopy(this.options.lanes.local, directory);
  }

  #networkEnvironment() {
    return gitEnvironment({
      protocols: this.options.protocols,
      sshOptions: this.options.sshOptions,
      ceilingDirectories: ["/"],
    });
  }
}

const succeeded = (result: RunResult) => result.ending === "exited" && result.code === 0;

function cloneFailed(url: CloneUrl, result: RunResult) {
  const reason = result.ending === "timeout"
    ? "the remote took too long to answer"
    : reasonOf(result.stderr, url.credential);
  return fail("cloneFailed", { url: url.shown, reason });
}
