/** Issues of a GitHub repository, and the branches linked to them. */
import { z } from "zod";
import { fail, Failure } from "../../../shared/errors.ts";
import { limits } from "../../../shared/limits.ts";
import {
  type Issue,
  type IssueQuery,
  type IssueSummary,
  issueSummarySchema,
  type Written,
} from "../../../shared/schema/forge.ts";
import type { CreatedBranch, IssueForBranch } from "../provider.ts";
import type { GitHubTarget } from "./connection.ts";
import { ghost } from "./parse.ts";

/** Pages looked through for a list: GitHub mixes pull requests into issues. */
const pagesMax = 5;
const pageSize = limits.forgeListMax;

export async function listIssues(
  { owner, repo, connection }: GitHubTarget,
  { state, label, limit }: IssueQuery,
  signal?: AbortSignal,
): Promise<IssueSummary[]> {
  const found: IssueSummary[] = [];
  for (let page = 1; page <= pagesMax && found.length < limit; page += 1) {
    const { rows, last } = await connection.ask(async (octokit, request) => {
      const { data } = await octokit.request("GET /repos/{owner}/{repo}/issues", {
        owner,
        repo,
        state,
        ...(label.length === 0 ? {} : { labels: label.join(",") }),
        per_page: pageSize,
        page,
        request,
      });
      const issues = data.filter(({ pull_request }) => pull_request === undefined);
      const rows = issues.map((issue): IssueSummary => ({
        number: issue.number,
        title: issue.title,
        state: issue.state === "open" ? "open" : "closed",
        author: issue.user?.login ?? ghost,
        labels: issue.labels.map((one) => typeof one === "string" ? one : one.name ?? ""),
        commentCount: issue.comments,
        createdAt: issue.created_at,
        updatedAt: issue.updated_at,
        url: issue.html_url,
      }));
      return { rows, last: data.length < pageSize };
    }, { signal });
    found.push(...rows);
    if (last) break;
  }
  return found.slice(0, limit);
}

export async function commentOn(
  { owner, repo, connection }: GitHubTarget,
  number: number,
  body: string,
): Promise<Written> {
  return await connection.ask(async (octokit, request) => {
    const { data } = await octokit.request(
      "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
      { owner, repo, issue_number: number, body, request },
    );
    return { url: data.html_url };
  }, { write: true });
}

const viewQuery = `query ($owner: String!, $repo: String!, $number: Int!, $first: Int!) {
  repository(owner: $owner, name: $repo) {
    issue(number: $number) {
      number title state body url createdAt updatedAt
      author { login }
      labels(first: 50) { nodes { name } }
      comments(first: $first) { totalCount nodes { author { login } body createdAt url } }
      linkedBranches(first: 50) { nodes { ref { name } } }
    }
  }
}`;

const author = z.object({ login: z.string() }).nullable();
const linked = z.object({
  nodes: z.array(z.object({ ref: z.object({ name: z.string() }).nullable() }).nullable()),
});
const viewSchema = z.object({
  repository: z.object({
    issue: z.object({
      ...issueSummarySchema.pick({ number: true, title: true, createdAt: true, updatedAt: true })
        .shape,
      state: z.string(),
      body: z.string(),
      url: z.string(),
      author,
      labels: z.object({ nodes: z.array(z.object({ name: z.string() }).nullable()) }).nullable(),
      comments: z.object({
        totalCount: z.int(),
        nodes: z.array(
          z.object({ author, body: z.string(), createdAt: z.string(), url: z.string() })
            .nullable(),
        ),
      }),
      linkedBranches: linked,
    }).nullable(),
  }).nullable(),
});

const namesOf = ({ nodes }: z.infer<typeof linked>) =>
  nodes.flatMap((node) => node?.ref?.name ?? []);

export async function viewIssue(
  target: GitHubTarget,
  number: number,
  signal?: AbortSignal,
): Promise<Issue> {
  const variables = { ...slugOf(target), number, first: limits.forgeListMax };
  const data = await graphql(target, { query: viewQuery, variables, schema: viewSchema, signal })
    .catch(issueMissing(target, number));
  const issue = data.repository?.issue ?? null;
  if (issue === null) throw fail("issueNotFound", { name: target.name, issueNumber: number });
  return {
    number: issue.number,
    title: issue.title,
    state: issue.state === "OPEN" ? "open" : "closed",
    author: issue.author?.login ?? ghost,
    labels: (issue.labels?.nodes ?? []).flatMap((label) => label?.name ?? []),
    commentCount: issue.comments.totalCount,
    createdAt: issue.createdAt,
    updatedAt: issue.updatedAt,
    url: issue.url,
    body: issue.body,
    comments: issue.comments.nodes.flatMap((comment) =>
      comment === null ? [] : [{ ...comment, author: comment.author?.login ?? ghost }]
    ),
    linkedBranches: namesOf(issue.linkedBranches),
  };
}

const branchQuery = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    id
    viewerPermission
    defaultBranchRef { target { oid } }
    issue(number: $number) {
      id number title
      linkedBranches(first: 50) { nodes { ref { name } } }
    }
  }
}`;

const branchSchema = z.object({
  repository: z.object({
    id: z.string(),
    viewerPermission: z.string().nullable(),
    defaultBranchRef: z.object({ target: z.object({ oid: z.string() }).nullable() }).nullable(),
    issue: z.object({
      id: z.string(),
      number: z.int(),
      title: z.string(),
      linkedBranches: linked,
    }).nullable(),
  }).nullable(),
});

export async function issueForBranch(
  target: GitHubTarget,
  number: number,
): Promise<IssueForBranch> {
  const variables = { ...slugOf(target), number };
  const { repository } = await graphql(target, {
    query: branchQuery,
    variables,
    schema: branchSchema,
  }).catch(issueMissing(target, number));
  const issue = repository?.issue ?? null;
  if (repository === null || issue === null) {
    throw fail("issueNotFound", { name: target.name, issueNumber: number });
  }
  // Told now, GitHub's own refusal could not be told from "it exists".
  if (["READ", "TRIAGE"].includes(repository.viewerPermission ?? "")) throw scopeFailure(target);
  const oid = repository.defaultBranchRef?.target?.oid ?? null;
  return {
    number: issue.number,
    title: issue.title,
    linkedBranches: namesOf(issue.linkedBranches),
    createBranch: (name) =>
      oid === null
        ? Promise.resolve({ kind: "refused", why: "the repo has no commit to start a branch from" })
        : createBranch(target, { issueId: issue.id, repositoryId: repository.id, oid, name }),
  };
}

const createMutation = `mutation ($input: CreateLinkedBranchInput!) {
  createLinkedBranch(input: $input) { linkedBranch { ref { name } } }
}`;

const createSchema = z.object({
  createLinkedBranch: z.object({
    linkedBranch: z.object({ ref: z.object({ name: z.string() }).nullable() }).nullable(),
  }).nullable(),
});

interface LinkedBranchInput {
  readonly issueId: string;
  readonly repositoryId: string;
  readonly oid: string;
  readonly name: string;
}

async function createBranch(
  target: GitHubTarget,
  input: LinkedBranchInput,
): Promise<CreatedBranch> {
  try {
    const data = await graphql(target, {
      query: createMutation,
      variables: { input },
      schema: createSchema,
      write: true,
    });
    const name = data.createLinkedBranch?.linkedBranch?.ref?.name;
    // GitHub answers without a branch, and without an error, when one of that name exists.
    return name === undefined
      ? { kind: "refused", why: "github made no branch" }
      : { kind: "created", name };
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.retryAfterSeconds !== undefined) throw thrown;
    if (thrown.status === 403) throw scopeFailure(target, thrown);
    if (thrown.status === 422) return { kind: "refused", why: thrown.message };
    throw thrown;
  }
}

const scopeFailure = ({ owner, repo }: GitHubTarget, cause?: unknown) =>
  fail("providerTokenScope", { provider: "github", slug: `${owner}/${repo}` }, { cause });

const slugOf = ({ owner, repo }: GitHubTarget) => ({ owner, repo });

/** A missing issue is an error of type NOT_FOUND; so is a missing repository, which keeps GitHub's words. */
const issueMissing = ({ name }: GitHubTarget, issueNumber: number) => (thrown: unknown): never => {
  const missing = thrown instanceof Failure && thrown.status === 404 &&
    !/\bRepository\b/.test(thrown.message);
  throw missing ? fail("issueNotFound", { name, issueNumber }) : thrown;
};

interface GraphqlCall<Schema extends z.ZodType> {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly schema: Schema;
  readonly signal?: AbortSignal | undefined;
  readonly write?: boolean;
}

async function graphql<Schema extends z.ZodType>(
  { connection }: GitHubTarget,
  { query, variables, schema, signal, write = false }: GraphqlCall<Schema>,
): Promise<z.output<Schema>> {
  return await connection.ask(
    async (octokit, request) =>
      schema.parse(await octokit.graphql(query, { ...variables, request })),
    { signal, write },
  );
}
