/** What a forge tells of a repo: issues, pull requests, checks (decisions, "Bridge: routes under /repos"). */
import { z } from "zod";
import { limits } from "../limits.ts";
import { repoSchema } from "./repo.ts";

const number = z.int().positive();
const at = z.string();
/** A whole number in a query, from 1 to `max`; `byDefault` when the key is missing. */
const countQuery = (max: number, byDefault: number) =>
  z.string().regex(/^[0-9]{1,6}$/, "must be a whole number").transform(Number)
    .pipe(z.int().min(1).max(max)).prefault(String(byDefault));
const refText = z.string().min(1).max(limits.forgeRefCharactersMax);
const bodyText = z.string().trim().min(1).max(limits.forgeBodyCharactersMax);

export const repoDetailsSchema = repoSchema.extend({
  defaultBranch: z.string().nullable(),
  webUrl: z.string().nullable(),
  description: z.string().nullable(),
  private: z.boolean().nullable(),
});
export type RepoDetails = z.infer<typeof repoDetailsSchema>;

export const commentSchema = z.object({
  author: z.string(),
  body: z.string(),
  createdAt: at,
  url: z.string(),
});
export type Comment = z.infer<typeof commentSchema>;

/** Where to see what was just written. */
export const writtenSchema = z.object({ url: z.string() });
export type Written = z.infer<typeof writtenSchema>;

export const issueStates = ["open", "closed", "all"] as const;
export const pullStates = ["open", "closed", "merged", "all"] as const;

export const issueSummarySchema = z.object({
  number,
  title: z.string(),
  state: z.enum(["open", "closed"]),
  author: z.string(),
  labels: z.array(z.string()),
  commentCount: z.int(),
  createdAt: at,
  updatedAt: at,
  url: z.string(),
});
export type IssueSummary = z.infer<typeof issueSummarySchema>;

export const issueSchema = issueSummarySchema.extend({
  body: z.string(),
  comments: z.array(commentSchema),
  linkedBranches: z.array(z.string()),
});
export type Issue = z.infer<typeof issueSchema>;

export const issueQuerySchema = z.object({
  state: z.enum(issueStates).default("open"),
  /** An issue must carry every label named. */
  label: z.array(z.string().min(1)).max(20).default([]),
  limit: countQuery(limits.forgeListMax, limits.forgeListDefault),
});
export type IssueQuery = z.infer<typeof issueQuerySchema>;

export const pullSummarySchema = z.object({
  number,
  title: z.string(),
  state: z.enum(["open", "closed", "merged"]),
  draft: z.boolean(),
  author: z.string(),
  head: z.string(),
  base: z.string(),
  createdAt: at,
  updatedAt: at,
  url: z.string(),
});
export type PullSummary = z.infer<typeof pullSummarySchema>;

export const pullSchema = pullSummarySchema.extend({
  body: z.string(),
  /** Null while the forge has not found out. */
  mergeable: z.boolean().nullable(),
  additions: z.int(),
  deletions: z.int(),
  changedFiles: z.int(),
  comments: z.array(commentSchema),
  reviews: z.array(z.object({
    author: z.string(),
    state: z.string(),
    body: z.string(),
    submittedAt: at.nullable(),
  })),
  reviewComments: z.array(z.object({
    author: z.string(),
    path: z.string(),
    line: z.int().nullable(),
    body: z.string(),
    createdAt: at,
  })),
});
export type Pull = z.infer<typeof pullSchema>;

export const pullQuerySchema = z.object({
  state: z.enum(pullStates).default("open"),
  /** The branch that the pull request is made from. */
  head: refText.optional(),
  limit: countQuery(limits.forgeListMax, limits.forgeListDefault),
});
export type PullQuery = z.infer<typeof pullQuerySchema>;

export const commentInputSchema = z.object({ body: bodyText });

export const reviewInputSchema = z.object({
  event: z.enum(["approve", "request_changes", "comment"]),
  body: bodyText,
  comments: z.array(z.object({ path: z.string().min(1), line: number, body: bodyText }))
    .max(limits.forgeListMax).optional(),
});
export type ReviewInput = z.infer<typeof reviewInputSchema>;

const target = {
  ref: refText.optional(),
  pull: z.string().regex(/^[1-9][0-9]{0,14}$/, "must be a positive integer").transform(Number)
    .optional(),
};
const exactlyOne = ({ ref, pull }: { ref?: string | undefined; pull?: number | undefined }) =>
  (ref === undefined) !== (pull === undefined);
const oneOfBoth = "give either ref or pull, exactly one";

export const checksQuerySchema = z.object(target).refine(exactlyOne, oneOfBoth);
export const logsQuerySchema = z.object({
  ...target,
  tail: countQuery(limits.forgeLogLinesMax, limits.forgeLogLinesDefault),
}).refine(exactlyOne, oneOfBoth);

export const checksSchema = z.object({
  ref: z.string(),
  /** `failure` when one failed, else `pending` while one runs, else `success`; null without checks. */
  conclusion: z.enum(["success", "failure", "pending"]).nullable(),
  checks: z.array(z.object({
    name: z.string(),
    status: z.string(),
    conclusion: z.string().nullable(),
    startedAt: at.nullable(),
    completedAt: at.nullable(),
    url: z.string().nullable(),
  })),
});
export type Checks = z.infer<typeof checksSchema>;
export type Check = Checks["checks"][number];

export const failedLogSchema = z.object({
  name: z.string(),
  url: z.string().nullable(),
  log: z.string(),
});
export type FailedLog = z.infer<typeof failedLogSchema>;
