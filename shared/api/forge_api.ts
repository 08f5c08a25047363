/**
 * The routes below `/repos/:name` that a repo's forge answers (decisions, "Bridge: routes under /repos").
 * A table of their own because a ship calls these, and no others, of its bridge.
 */
import { z } from "zod";
import {
  checksQuerySchema,
  checksSchema,
  commentInputSchema,
  failedLogSchema,
  issueQuerySchema,
  issueSchema,
  issueSummarySchema,
  logsQuerySchema,
  pullQuerySchema,
  pullSchema,
  pullSummarySchema,
  repoDetailsSchema,
  reviewInputSchema,
  writtenSchema,
} from "../schema/forge.ts";
import { endpoints, json } from "./endpoint.ts";

const repo = { name: "repo" } as const;
const numbered = { name: "repo", number: "number" } as const;

export const forgeApi = endpoints({
  getRepo: {
    method: "GET",
    path: "/repos/:name",
    audience: "repos",
    summary: "A repo, and what its forge tells of it",
    params: repo,
    reply: json(200, repoDetailsSchema),
  },
  listIssues: {
    method: "GET",
    path: "/repos/:name/issues",
    audience: "repos",
    summary: "Issues, newest first",
    params: repo,
    query: issueQuerySchema,
    reply: json(200, z.array(issueSummarySchema)),
  },
  getIssue: {
    method: "GET",
    path: "/repos/:name/issues/:number",
    audience: "repos",
    summary: "An issue with its comments and the branches linked to it",
    params: numbered,
    reply: json(200, issueSchema),
  },
  commentIssue: {
    method: "POST",
    path: "/repos/:name/issues/:number/comments",
    audience: "repos",
    summary: "Comment on an issue",
    params: numbered,
    body: commentInputSchema,
    reply: json(201, writtenSchema),
  },
  listPulls: {
    method: "GET",
    path: "/repos/:name/pulls",
    audience: "repos",
    summary: "Pull requests, newest first",
    params: repo,
    query: pullQuerySchema,
    reply: json(200, z.array(pullSummarySchema)),
  },
  getPull: {
    method: "GET",
    path: "/repos/:name/pulls/:number",
    audience: "repos",
    summary: "A pull request with its comments and reviews",
    params: numbered,
    reply: json(200, pullSchema),
  },
  commentPull: {
    method: "POST",
    path: "/repos/:name/pulls/:number/comments",
    audience: "repos",
    summary: "Comment on a pull request",
    params: numbered,
    body: commentInputSchema,
    reply: json(201, writtenSchema),
  },
  reviewPull: {
    method: "POST",
    path: "/repos/:name/pulls/:number/reviews",
    audience: "repos",
    summary: "Review a pull request",
    params: numbered,
    body: reviewInputSchema,
    reply: json(201, writtenSchema),
  },
  getChecks: {
    method: "GET",
    path: "/repos/:name/checks",
    audience: "repos",
    summary: "The checks of a ref or of a pull request's head",
    params: repo,
    query: checksQuerySchema,
    reply: json(200, checksSchema),
  },
  getFailedLogs: {
    method: "GET",
    path: "/repos/:name/checks/logs",
    audience: "repos",
    summary: "The ends of the failed jobs' logs",
    params: repo,
    query: logsQuerySchema,
    reply: json(200, z.array(failedLogSchema)),
  },
});
export type ForgeApi = typeof forgeApi;
