/**
 * What the bridge asks of a forge. A provider knows how to open a repo by its clone URL; everything else is
 * asked of the open repo. Each method may throw what the forge answered (`relayed`, with its status),
 * `providerRateLimited`, `providerUnreachable`, `providerAnswerInvalid`, and the reason of `signal`.
 */
import type {
  Checks,
  FailedLog,
  Issue,
  IssueQuery,
  IssueSummary,
  Pull,
  PullQuery,
  PullSummary,
  RepoDetails,
  ReviewInput,
  Written,
} from "../../shared/schema/forge.ts";
import type { Repo } from "../../shared/schema/repo.ts";

export interface Provider {
  /** As `provider` of a repo names it. */
  readonly name: string;
  /** Asks nothing yet. Throws `providerTokenMissing`, `providerUnsupported` (a URL that is not one of its own). */
  open(repo: Repo): ForgeRepo;
}

/** What a forge tells of a repo beyond the bridge's own record. */
export type RepoFacts = Omit<RepoDetails, keyof Repo>;

/** Whose checks: a branch, tag or commit, or a pull request's head. */
export type CheckTarget = { readonly ref: string } | { readonly pull: number };

/** An issue, as creating a branch for it needs it. */
export interface IssueForBranch {
  readonly number: number;
  readonly title: string;
  /** Branches linked to it now. */
  readonly linkedBranches: readonly string[];
  /** Creates a branch at the default branch's head and links it to the issue. Throws `providerTokenScope`. */
  createBranch(name: string): Promise<CreatedBranch>;
}

/** `created` under the name that the forge chose; `refused` when it would not, for instance because it exists. */
export type CreatedBranch =
  | { readonly kind: "created"; readonly name: string }
  | { readonly kind: "refused"; readonly why: string };

/** A pull request, as cleaning up needs it. */
export interface PullState {
  readonly number: number;
  readonly state: "open" | "closed" | "merged";
  readonly url: string;
}

export interface ForgeRepo {
  facts(signal?: AbortSignal): Promise<RepoFacts>;
  issues(query: IssueQuery, signal?: AbortSignal): Promise<IssueSummary[]>;
  /** Throws `issueNotFound`. */
  issue(number: number, signal?: AbortSignal): Promise<Issue>;
  commentIssue(number: number, body: string): Promise<Written>;
  pulls(query: PullQuery, signal?: AbortSignal): Promise<PullSummary[]>;
  pull(number: number, signal?: AbortSignal): Promise<Pull>;
  commentPull(number: number, body: string): Promise<Written>;
  reviewPull(number: number, review: ReviewInput): Promise<Written>;
  checks(target: CheckTarget, signal?: AbortSignal): Promise<Checks>;
  /** The last `tail` lines of each failed job. */
  failedLogs(target: CheckTarget, tail: number, signal?: AbortSignal): Promise<FailedLog[]>;
  /** Throws `issueNotFound`, `providerTokenScope`. */
  issueForBranch(number: number): Promise<IssueForBranch>;
  /** Whether the repo has a branch of exactly that name. */
  hasBranch(name: string): Promise<boolean>;
  /** The newest pull request from `branch`, or null; asked conditionally, so that asking often is cheap. */
  newestPull(branch: string, signal?: AbortSignal): Promise<PullState | null>;
}
