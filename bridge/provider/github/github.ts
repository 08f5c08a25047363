/** The GitHub provider, github.com or an Enterprise Server: REST, and GraphQL where REST has no answer. */
import type { Clock } from "../../../shared/clock.ts";
import { fail, Failure } from "../../../shared/errors.ts";
import type { Repo } from "../../../shared/schema/repo.ts";
import type { ForgeRepo, Provider, PullState, RepoFacts } from "../provider.ts";
import { checksOf, failedLogsOf } from "./checks.ts";
import { GitHubConnection, type GitHubTarget } from "./connection.ts";
import { commentOn, issueForBranch, listIssues, viewIssue } from "./issues.ts";
import { parseSlug, pullStateOf } from "./parse.ts";
import { listPulls, reviewPull, viewPull } from "./pulls.ts";

export interface GitHubOptions {
  /** Null: no repo can be opened. */
  readonly token: string | null;
  readonly apiUrl: string;
  readonly clock: Clock;
  /** How long one request may take (default: `limits.forgeCallMs`). */
  readonly callMs?: number;
}

/** What the last sweep was told of a branch, and the tag to ask with whether it still holds. */
interface SeenPull {
  readonly etag: string;
  readonly pull: PullState | null;
}

const seenMax = 1_000;

export class GitHubProvider implements Provider {
  readonly name = "github";
  readonly #connection: GitHubConnection | null;
  readonly #seen = new Map<string, SeenPull>();

  constructor(options: GitHubOptions) {
    const { token } = options;
    this.#connection = token === null ? null : new GitHubConnection({ ...options, token });
  }

  open(repo: Repo): ForgeRepo {
    if (this.#connection === null) {
      throw fail("providerTokenMissing", { provider: "github", variable: "GRID_GITHUB_TOKEN" });
    }
    const slug = parseSlug(repo.url);
    if (slug === null) {
      throw fail("providerUnsupported", {
        provider: "github",
        what: "this clone URL: it must end in <owner>/<name>",
      });
    }
    const target = { ...slug, name: repo.name, connection: this.#connection };
    return {
      facts: (signal) => factsOf(target, signal),
      issues: (query, signal) => listIssues(target, query, signal),
      issue: (number, signal) => viewIssue(target, number, signal),
      commentIssue: (number, body) => commentOn(target, number, body),
      pulls: (query, signal) => listPulls(target, query, signal),
      pull: (number, signal) => viewPull(target, number, signal),
      async commentPull(number, body) {
        // To GitHub a pull request is an issue: without this, a comment meant for one could reach the other.
        await assertPull(target, number);
        return await commentOn(target, number, body);
      },
      reviewPull: (number, review) => reviewPull(target, number, review),
      checks: (which, signal) => checksOf(target, which, signal),
      failedLogs: (which, tail, signal) => failedLogsOf(target, which, { tail, signal }),
      issueForBranch: (number) => issueForBranch(target, number),
      hasBranch: (name) => hasBranch(target, name),
      newestPull: (branch, signal) => this.#newestPull(target, branch, signal),
    };
  }

  async #newestPull(
    target: GitHubTarget,
    branch: string,
    signal?: AbortSignal,
  ): Promise<PullState | null> {
    const { owner, repo, connection } = target;
    const key = `${owner}/${repo}:${branch}`;
    const seen = this.#seen.get(key);
    try {
      return await connection.ask(async (octokit, request) => {
        const { data, headers } = await octokit.request("GET /repos/{owner}/{repo}/pulls", {
          owner,
          repo,
          head: `${owner}:${branch}`,
          state: "all",
          sort: "created",
          direction: "desc",
          per_page: 1,
          headers: seen === undefined ? {} : { "if-none-match": seen.etag },
          request,
        });
        const [newest] = data;
        const pull = newest === undefined
          ? null
          : { number: newest.number, state: pullStateOf(newest), url: newest.html_url };
        if (headers.etag !== undefined) this.#remember(key, { etag: headers.etag, pull });
        return pull;
      }, { signal });
    } catch (thrown) {
      if (seen !== undefined && thrown instanceof Failure && thrown.status === 304) {
        return seen.pull;
      }
      throw thrown;
    }
  }

  #remember(key: string, seen: SeenPull): void {
    this.#seen.delete(key);
    this.#seen.set(key, seen);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > seenMax && oldest !== undefined) this.#seen.delete(oldest);
  }
}

function factsOf(
  { owner, repo, connection }: GitHubTarget,
  signal?: AbortSignal,
): Promise<RepoFacts> {
  return connection.ask(async (octokit, request) => {
    const { data } = await octokit.request("GET /repos/{owner}/{repo}", { owner, repo, request });
    return {
      defaultBranch: data.default_branch,
      webUrl: data.html_url,
      description: data.description,
      private: data.private,
    };
  }, { signal });
}

async function hasBranch(
  { owner, repo, connection }: GitHubTarget,
  branch: string,
): Promise<boolean> {
  return await connection.ask(async (octokit, request) => {
    // `matching-refs` answers with what begins with the name; `ref` would answer 404 as its normal case.
    const { data } = await octokit.request("GET /repos/{owner}/{repo}/git/matching-refs/{ref}", {
      owner,
      repo,
      ref: `heads/${branch}`,
      request,
    });
    return data.some(({ ref }) => ref === `refs/heads/${branch}`);
  });
}

async function assertPull(
  { owner, repo, connection }: GitHubTarget,
  number: number,
): Promise<void> {
  await connection.ask(async (octokit, request) => {
    await octokit.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", {
      owner,
      repo,
      pull_number: number,
      request,
    });
  });
}
