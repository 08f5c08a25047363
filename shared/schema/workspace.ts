/** Workspaces as ship and bridge show them (interface, "Resources and their fields"). */
import { z } from "zod";
import { agentStatusSchema } from "./agent.ts";
import { ephemeralSchema } from "./ephemeral.ts";
import { repoNameSchema, shipNameSchema, workspaceNameSchema } from "./identifier.ts";

const identity = { repoName: repoNameSchema, name: workspaceNameSchema, branch: z.string() };

export const workspaceSummarySchema = z.object({
  ...identity,
  active: z.boolean(),
  agent: agentStatusSchema.nullable().default(null),
});
export type WorkspaceSummary = z.infer<typeof workspaceSummarySchema>;

export const workspaceDiffSchema = z.object({
  added: z.number(),
  removed: z.number(),
  commits: z.number(),
});
export type WorkspaceDiff = z.infer<typeof workspaceDiffSchema>;

const inactive = z.object({ state: z.literal("inactive"), ...identity });
const active = z.object({
  state: z.literal("active"),
  ...identity,
  diff: workspaceDiffSchema,
  agent: agentStatusSchema.nullable(),
  issue: z.null(),
  mergeRequest: z.null(),
  ship: shipNameSchema,
});

export const workspaceStatusSchema = z.discriminatedUnion("state", [inactive, active]);
export type WorkspaceStatus = z.infer<typeof workspaceStatusSchema>;

const ofBridge = { ship: shipNameSchema, ephemeral: ephemeralSchema.nullable() };

export const bridgeWorkspaceSummarySchema = workspaceSummarySchema.extend(ofBridge);
export type BridgeWorkspaceSummary = z.infer<typeof bridgeWorkspaceSummarySchema>;

export const bridgeWorkspaceStatusSchema = z.discriminatedUnion("state", [
  inactive.extend(ofBridge),
  active.extend(ofBridge),
]);
export type BridgeWorkspaceStatus = z.infer<typeof bridgeWorkspaceStatusSchema>;

/** Names are plain strings here: one that is present but no identifier is a 400, not a 422. */
export const shipCreateSchema = z.object({
  url: z.string(),
  repoName: z.string(),
  name: z.string(),
  branch: z.string(),
});
export type ShipCreate = z.infer<typeof shipCreateSchema>;

export const bridgeCreateSchema = z.object({
  ship: z.string(),
  repoName: z.string(),
  name: z.string(),
  branch: z.string().optional(),
  issueNumber: z.number().optional(),
  ephemeral: z.boolean().optional(),
});
export type BridgeCreate = z.infer<typeof bridgeCreateSchema>;

export const switchBranchSchema = z.object({ branch: z.string() });

/** One step of a clone as git reports it: `event: progress` of the streamed form of POST /workspaces. */
export const cloneProgressSchema = z.object({
  phase: z.string(),
  percent: z.number().nullable(),
  done: z.number(),
  total: z.number().nullable(),
});
export type CloneProgress = z.infer<typeof cloneProgressSchema>;
