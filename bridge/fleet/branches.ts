/** The branches of a repo's remote: `git ls-remote` outside any repository, bounded and without prompts. */
import { fail } from "../../shared/errors.ts";
import { gitEnvironment, stallConfiguration } from "../../shared/git/environment.ts";
import { parseRemoteRefs, remoteBranches } from "../../shared/git/refs.ts";
import { listRemoteCall, reasonOf } from "../../shared/git/remote.ts";
import { cloneProtocols } from "../../shared/git/url.ts";
import type { CommandLane, RunResult } from "../../shared/host/command.ts";
import { limits } from "../../shared/limits.ts";
import type { Repo, RepoBranch } from "../../shared/schema/repo.ts";
import { cloneUrlOf } from "./repos.ts";

const environment = gitEnvironment({ protocols: cloneProtocols, ceilingDirectories: ["/"] });

/** Lists remote branches; `lane` knows the program `git`. */
export class Branches {
  constructor(private readonly lane: CommandLane) {}

  /** Sorted by name. Throws `branchListFailed`, `tooBusy`, or the reason of `signal`. */
  async list(repo: Repo, signal?: AbortSignal): Promise<RepoBranch[]> {
    const url = cloneUrlOf(repo);
    const stall = stallConfiguration(limits.branchListStallMs);
    const { args, env } = listRemoteCall(url, ["refs/heads/*"], stall);
    const result = await this.lane.run("git", args, {
      cwd: "/",
      env: { ...environment, ...env },
      timeoutMs: limits.branchListTimeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
    signal?.throwIfAborted();
    if (result.ending === "exited" && result.code === 0) {
      const output = new TextDecoder().decode(result.stdout);
      return [...remoteBranches(parseRemoteRefs(output))];
    }
    const reason = endingText(result) ?? reasonOf(result.stderr, url.credential);
    throw fail("branchListFailed", { name: repo.name, reason });
  }
}

function endingText({ ending }: RunResult): string | null {
  switch (ending) {
    case "timeout":
      return `no answer within ${limits.branchListTimeoutMs / 1000} s`;
    case "overflow":
      return "the remote has more branches than can be listed";
    case "aborted":
      return "the listing was stopped";
    case "exited":
      return null;
  }
}
