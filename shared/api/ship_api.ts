/** The routes of a ship (interface, "Ship routes"). */
import { z } from "zod";
import { armoryPushSchema, armorySyncStateSchema } from "../schema/armory.ts";
import { agentCredentialsSchema } from "../schema/agent.ts";
import { okSchema } from "../schema/common.ts";
import { fleetEventSchema } from "../schema/event.ts";
import { activeQuerySchema, diffQuerySchema, forceQuerySchema } from "../schema/query.ts";
import { systemResourcesSchema } from "../schema/ship.ts";
import {
  shipCreateSchema,
  switchBranchSchema,
  workspaceStatusSchema,
  workspaceSummarySchema,
} from "../schema/workspace.ts";
import { serverFrameSchema } from "../terminal/protocol.ts";
import { endpoints, json } from "./endpoint.ts";

const workspace = { repo: "repo", name: "workspace" } as const;
const ok = json(200, okSchema);

export const shipApi = endpoints({
  listWorkspaces: {
    method: "GET",
    path: "/workspaces",
    audience: "bridge",
    summary: "Every workspace below the grid directory",
    query: activeQuerySchema,
    reply: json(200, z.array(workspaceSummarySchema)),
  },
  createWorkspace: {
    method: "POST",
    path: "/workspaces",
    audience: "bridge",
    summary: "Clone a repository into a new workspace",
    body: shipCreateSchema,
    reply: json(201, workspaceSummarySchema),
  },
  getWorkspace: {
    method: "GET",
    path: "/workspaces/:repo/:name",
    audience: "bridge",
    summary: "One workspace, with its diff and agent when it is active",
    params: workspace,
    reply: json(200, workspaceStatusSchema),
  },
  deleteWorkspace: {
    method: "DELETE",
    path: "/workspaces/:repo/:name",
    audience: "bridge",
    summary: "Delete a workspace; with force=false only when it holds no work",
    params: workspace,
    query: forceQuerySchema,
    reply: ok,
  },
  diffWorkspace: {
    method: "GET",
    path: "/workspaces/:repo/:name/diff",
    audience: "bridge",
    summary: "The workspace's diff as text",
    params: workspace,
    query: diffQuerySchema,
    reply: { kind: "text", status: 200 },
  },
  switchBranch: {
    method: "POST",
    path: "/workspaces/:repo/:name/branch",
    audience: "bridge",
    summary: "Switch to a branch, creating it when it is missing",
    params: workspace,
    body: switchBranchSchema,
    reply: ok,
  },
  activateWorkspace: {
    method: "POST",
    path: "/workspaces/:repo/:name/activate",
    audience: "bridge",
    summary: "Start the workspace's session",
    params: workspace,
    reply: ok,
  },
  deactivateWorkspace: {
    method: "POST",
    path: "/workspaces/:repo/:name/deactivate",
    audience: "bridge",
    summary: "End the workspace's session",
    params: workspace,
    reply: ok,
  },
  mcpGet: {
    method: "GET",
    path: "/workspaces/:repo/:name/mcp",
    audience: "agent",
    summary: "MCP streamable HTTP",
    params: workspace,
    reply: { kind: "raw" },
  },
  mcpPost: {
    method: "POST",
    path: "/workspaces/:repo/:name/mcp",
    audience: "agent",
    summary: "MCP streamable HTTP",
    params: workspace,
    reply: { kind: "raw" },
  },
  mcpDelete: {
    method: "DELETE",
    path: "/workspaces/:repo/:name/mcp",
    audience: "agent",
    summary: "MCP streamable HTTP",
    params: workspace,
    reply: { kind: "raw" },
  },
  terminal: {
    method: "GET",
    path: "/workspaces/:repo/:name/terminal",
    audience: "bridge",
    summary: "The session's screen, as snapshots and patches",
    params: workspace,
    reply: { kind: "socket", frames: serverFrameSchema },
  },
  agentCredentials: {
    method: "POST",
    path: "/agent/credentials",
    audience: "bridge",
    summary: "What the repo tools of this ship's agents call their bridge with",
    body: agentCredentialsSchema,
    reply: ok,
  },
  systemResources: {
    method: "GET",
    path: "/system-resources",
    audience: "bridge",
    summary: "Figures of the ship's host",
    reply: json(200, systemResourcesSchema),
  },
  armoryState: {
    method: "GET",
    path: "/armory",
    audience: "bridge",
    summary: "What this ship has installed of its bridge's armory",
    reply: json(200, armorySyncStateSchema),
  },
  syncArmory: {
    method: "POST",
    path: "/armory/sync",
    audience: "bridge",
    summary: "Pull, verify and install the bridge's armory",
    body: armoryPushSchema,
    reply: json(200, armorySyncStateSchema),
  },
  events: {
    method: "GET",
    path: "/events",
    audience: "bridge",
    summary: "Workspace events: a sync, then every change",
    reply: { kind: "socket", frames: fleetEventSchema },
  },
});
export type ShipApi = typeof shipApi;
