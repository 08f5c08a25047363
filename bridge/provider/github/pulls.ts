/** Pull requests of a GitHub repository. */
import { limits } from "../../../shared/limits.ts";
import type {
  Pull,
  PullQuery,
  PullSummary,
  ReviewInput,
  Written,
} from "../../../shared/schema/forge.ts";
import type { GitHubTarget } from "./connection.ts";
import { ghost, pullStateOf } from "./parse.ts";

/** Pages looked through for a list: GitHub does not tell merged from closed when asked for either. */
const pagesMax = 5;
const pageSize = limits.forgeListMax;

interface GitHubPull {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly merged_at: string | null;
  readonly draft?: boolean;
  readonly user: { readonly login: string } | null;
  readonly head: { readonly ref: string };
  readonly base: { readonly ref: string };
  readonly created_at: string;
  readonly updated_at: string;
  readonly html_url: string;
}

const summaryOf = (pull: GitHubPull): PullSummary => ({
  number: pull.number,
  title: pull.title,
  state: pullStateOf(pull),
  draft: pull.draft ?? false,
  author: pull.user?.login ?? ghost,
  head: pull.head.ref,
  base: pull.base.ref,
  createdAt: pull.created_at,
  updatedAt: pull.updated_at,
  url: pull.html_url,
});

export async function listPulls(
  { owner, repo, connection }: GitHubTarget,
  { state, head, limit }: PullQuery,
  signal?: AbortSignal,
): Promise<PullSummary[]> {
  const found: PullSummary[] = [];
  for (let page = 1; page <= pagesMax && found.length < limit; page += 1) {
    const { rows, last } = await connection.ask(async (octokit, request) => {
      const { data } = await octokit.request("GET /repos/{owner}/{repo}/pulls", {
        owner,
        repo,
        state: state === "merged" ? "closed" : state,
        ...(head === undefined ? {} : { head: head.includes(":") ? head : `${owner}:${head}` }),
        per_page: pageSize,
        page,
        request,
      });
      return { rows: data.map(summaryOf), last: data.length < pageSize };
    }, { signal });
    found.push(...rows.filter((pull) => state === "all" || pull.state === state));
    if (last) break;
  }
  return found.slice(0, limit);
}

/** The first hundred comments, reviews and review comments each. */
export async function viewPull(
  { owner, repo, connection }: GitHubTarget,
  number: number,
  signal?: AbortSignal,
): Promise<Pull> {
  const place = { owner, repo, pull_number: number };
  const [pull, comments, reviews, reviewComments] = await Promise.all([
    connection.ask(async (octokit, request) => {
      const { data } = await octokit.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", {
        ...place,
        request,
      });
      return {
        ...summaryOf(data),
        body: data.body ?? "",
        mergeable: data.mergeable,
        additions: data.additions,
        deletions: data.deletions,
        changedFiles: data.changed_files,
      };
    }, { signal }),
    connection.ask(async (octokit, request) => {
      const { data } = await octokit.request(
        "GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
        { owner, repo, issue_number: number, per_page: pageSize, request },
      );
      return data.map((comment) => ({
        author: comment.user?.login ?? ghost,
        body: comment.body ?? "",
        createdAt: comment.created_at,
        url: comment.html_url,
      }));
    }, { signal }),
    connection.ask(async (octokit, request) => {
      const { data } = await octokit.request(
        "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
        { ...place, per_page: pageSize, request },
      );
      return data.map((review) => ({
        author: review.user?.login ?? ghost,
        state: review.state.toLowerCase(),
        body: review.body,
        submittedAt: review.submitted_at ?? null,
      }));
    }, { signal }),
    connection.ask(async (octokit, request) => {
      const { data } = await octokit.request(
        "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments",
        { ...place, per_page: pageSize, request },
      );
      return data.map((comment) => ({
        author: comment.user?.login ?? ghost,
        path: comment.path,
        line: comment.line ?? comment.original_line ?? null,
        body: comment.body,
        createdAt: comment.created_at,
      }));
    }, { signal }),
  ]);
  return { ...pull, comments, reviews, reviewComments };
}

const events = {
  approve: "APPROVE",
  request_changes: "REQUEST_CHANGES",
  comment: "COMMENT",
} as const;

export async function reviewPull(
  { owner, repo, connection }: GitHubTarget,
  number: number,
  { event, body, comments }: ReviewInput,
): Promise<Written> {
  return await connection.ask(async (octokit, request) => {
    const { data } = await octokit.request(
      "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
      {
        owner,
        repo,
        pull_number: number,
        event: events[event],
        body,
        ...(comments === undefined ? {} : { comments }),
        request,
      },
    );
    return { url: data.html_url };
  }, { write: true });
}
