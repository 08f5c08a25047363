/**
 * The agent's tools for its repo: issues, pull requests and checks, each one call of the bridge. The
 * workspace says which repo; what the agent names is checked here, so that a mistake is told at once.
 */
import { z } from "zod";
import type { WorkspaceId } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import {
  checksSchema,
  commentInputSchema,
  failedLogSchema,
  issueSchema,
  issueStates,
  issueSummarySchema,
  pullSchema,
  pullStates,
  pullSummarySchema,
  repoDetailsSchema,
  reviewInputSchema,
  writtenSchema,
} from "../../shared/schema/forge.ts";
import type { BridgeAccess } from "./bridge_access.ts";
import { type Tool, tool } from "./tools.ts";

export interface RepoToolsOptions {
  readonly bridge: BridgeAccess;
  /** The branch that the workspace is on. Throws `workspaceNotFound`. */
  readonly branchOf: (id: WorkspaceId) => Promise<string>;
}

const number = z.int().positive();
const limit = z.int().min(1).max(limits.forgeListMax).default(limits.forgeListDefault)
  .describe(`at most this many (1 to ${limits.forgeListMax})`);
const ref = z.string().min(1).max(limits.forgeRefCharactersMax).optional()
  .describe("a branch, tag or commit; by default the workspace's branch");
const pull = number.optional().describe("a pull request's number, instead of ref");
const tail = z.int().min(1).max(limits.forgeLogLinesMax).default(limits.forgeLogLinesDefault)
  .describe("how many lines of each job's end");

const repo = (id: WorkspaceId) => ({ name: id.repoName });

/** repo_info, repo_issue_…, repo_pr_…, repo_checks and repo_failed_logs. */
export function repoTools(options: RepoToolsOptions): Tool[] {
  return [infoTool(options), ...issueTools(options), ...pullTools(options), ...checkTools(options)];
}

function infoTool({ bridge }: RepoToolsOptions): Tool {
  return tool({
    name: "repo_info",
    title: "Look at the repo",
    description: "The repo of this workspace: default branch, web page, description.",
    readOnly: true,
    input: z.object({}),
    // The schema of a tool is shown as JSON Schema, which has no word for our branded names.
    output: repoDetailsSchema.extend({ name: z.string() }),
    run: (id, _input, signal) => bridge.call("getRepo", { params: repo(id) }, signal),
  });
}

function issueTools({ bridge }: RepoToolsOptions): Tool[] {
  return [
    tool({
      name: "repo_issue_list",
      title: "List issues",
      description: "Issues of this repo, newest first.",
      readOnly: true,
      input: z.object({
        state: z.enum(issueStates).default("open"),
        label: z.array(z.string().min(1)).max(20).default([])
          .describe("only issues that carry every one of these labels"),
        limit,
      }),
      output: z.object({ issues: z.array(issueSummarySchema) }),
      run: async (id, query, signal) => ({
        issues: await bridge.call("listIssues", { params: repo(id), query }, signal),
      }),
    }),
    tool({
      name: "repo_issue_view",
      title: "Read an issue",
      description: "One issue with its text, comments and linked branches.",
      readOnly: true,
      input: z.object({ number }),
      output: issueSchema,
      run: (id, input, signal) =>
        bridge.call("getIssue", { params: { ...repo(id), ...input } }, signal),
    }),
    tool({
      name: "repo_issue_comment",
      title: "Comment on an issue",
      description: "Adds a comment (Markdown) to an issue.",
      readOnly: false,
      input: commentInputSchema.extend({ number }),
      output: writtenSchema,
      run: (id, { number, ...body }, signal) =>
        bridge.call("commentIssue", { params: { ...repo(id), number }, body }, signal),
    }),
  ];
}

function pullTools({ bridge }: RepoToolsOptions): Tool[] {
  return [
    tool({
      name: "repo_pr_list",
      title: "List pull requests",
      description: "Pull requests of this repo, newest first; head narrows to those of a branch.",
      readOnly: true,
      input: z.object({
        state: z.enum(pullStates).default("open"),
        head: z.string().min(1).max(limits.forgeRefCharactersMax).optional()
          .describe("the branch that the pull request is made from"),
        limit,
      }),
      output: z.object({ pulls: z.array(pullSummarySchema) }),
      run: async (id, query, signal) => ({
        pulls: await bridge.call("listPulls", { params: repo(id), query: given(query) }, signal),
      }),
    }),
    tool({
      name: "repo_pr_view",
      title: "Read a pull request",
      description: "One pull request with its text, size, comments, reviews and review comments.",
      readOnly: true,
      input: z.object({ number }),
      output: pullSchema,
      run: (id, input, signal) =>
        bridge.call("getPull", { params: { ...repo(id), ...input } }, signal),
    }),
    tool({
      name: "repo_pr_comment",
      title: "Comment on a pull request",
      description: "Adds a comment (Markdown) to a pull request's conversation.",
      readOnly: false,
      input: commentInputSchema.extend({ number }),
      output: writtenSchema,
      run: (id, { number, ...body }, signal) =>
        bridge.call("commentPull", { params: { ...repo(id), number }, body }, signal),
    }),
    tool({
      name: "repo_pr_review",
      title: "Review a pull request",
      description:
        "Submits a review: approve, request_changes or comment, with a text and, where " +
        "wanted, comments on lines of the diff.",
      readOnly: false,
      input: reviewInputSchema.extend({ number }),
      output: writtenSchema,
      run: (id, { number, ...body }, signal) =>
        bridge.call("reviewPull", { params: { ...repo(id), number }, body }, signal),
    }),
  ];
}

function checkTools({ bridge, branchOf }: RepoToolsOptions): Tool[] {
  return [
    tool({
      name: "repo_checks",
      title: "Read the checks",
      description: "The checks (CI) of a ref or pull request; by default of the workspace's " +
        "branch, as it was last pushed.",
      readOnly: true,
      input: z.object({ ref, pull }),
      output: checksSchema,
      run: async (id, input, signal) => {
        const query = await target(branchOf, id, input);
        return await bridge.call("getChecks", { params: repo(id), query }, signal);
      },
    }),
    tool({
      name: "repo_failed_logs",
      title: "Read the logs of failed checks",
      description: "The ends of the logs of failed CI jobs of a ref or pull request; by default " +
        "of the workspace's branch. An empty list means that no job failed.",
      readOnly: true,
      input: z.object({ ref, pull, tail }),
      output: z.object({ logs: z.array(failedLogSchema) }),
      run: async (id, { tail, ...input }, signal) => {
        const query = { ...await target(branchOf, id, input), tail };
        return { logs: await bridge.call("getFailedLogs", { params: repo(id), query }, signal) };
      },
    }),
  ];
}

/** What the agent named, or the workspace's branch; the bridge refuses both at once. */
async function target(
  branchOf: RepoToolsOptions["branchOf"],
  id: WorkspaceId,
  input: { readonly ref?: string | undefined; readonly pull?: number | undefined },
): Promise<{ ref?: string; pull?: number }> {
  const named = given(input);
  return named.ref === undefined && named.pull === undefined ? { ref: await branchOf(id) } : named;
}

/** Without the keys whose value is undefined. */
function given<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== undefined),
  ) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
