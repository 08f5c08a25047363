/** The routes of the bridge (interface, "Bridge routes"). */
import { z } from "zod";
import { okSchema } from "../schema/common.ts";
import { bridgeEventSchema } from "../schema/event.ts";
import { activeQuerySchema, diffQuerySchema } from "../schema/query.ts";
import { createRepoSchema, repoBranchSchema, repoSchema } from "../schema/repo.ts";
import {
  registerShipSchema,
  shipInfoSchema,
  shipSystemResourcesSchema,
  systemResourcesSchema,
} from "../schema/ship.ts";
import {
  bridgeCreateSchema,
  bridgeWorkspaceStatusSchema,
  bridgeWorkspaceSummarySchema,
  switchBranchSchema,
} from "../schema/workspace.ts";
import { endpoints, json } from "./endpoint.ts";

const workspace = { repo: "repo", name: "workspace" } as const;
const ok = json(200, okSchema);

export const bridgeApi = endpoints({
  authMode: {
    method: "GET",
    path: "/auth/mode",
    audience: "none",
    summary: "Whether this bridge asks for a credential",
    reply: json(200, z.object({ authRequired: z.boolean() })),
  },
  listShips: {
    method: "GET",
    path: "/ships",
    audience: "user",
    summary: "The roster, each ship online or offline",
    reply: json(200, z.array(shipInfoSchema)),
  },
  registerShip: {
    method: "POST",
    path: "/ships",
    audience: "admin",
    summary: "Register the ship that answers at a URL",
    body: registerShipSchema,
    reply: json(201, shipInfoSchema),
  },
  removeShip: {
    method: "DELETE",
    path: "/ships/:name",
    audience: "admin",
    summary: "Take a ship off the roster; its workspaces stay on its host",
    params: { name: "ship" },
    reply: ok,
  },
  shipResources: {
    method: "GET",
    path: "/ships/:ship/system-resources",
    audience: "user",
    summary: "Figures of one ship's host",
    params: { ship: "ship" },
    reply: json(200, systemResourcesSchema),
  },
  allResources: {
    method: "GET",
    path: "/system-resources",
    audience: "user",
    summary: "Figures of every ship's host",
    reply: json(200, z.array(shipSystemResourcesSchema)),
  },
  listRepos: {
    method: "GET",
    path: "/repos",
    audience: "repos",
    summary: "The registered repos",
    reply: json(200, z.array(repoSchema)),
  },
  createRepo: {
    method: "POST",
    path: "/repos",
    audience: "repos",
    summary: "Register a repo under a name",
    body: createRepoSchema,
    reply: json(201, repoSchema),
  },
  removeRepo: {
    method: "DELETE",
    path: "/repos/:name",
    audience: "repos",
    summary: "Forget a repo; workspaces cloned from it stay",
    params: { name: "repo" },
    reply: ok,
  },
  listBranches: {
    method: "GET",
    path: "/repos/:name/branches",
    audience: "repos",
    summary: "The branches of the repo's remote",
    params: { name: "repo" },
    reply: json(200, z.array(repoBranchSchema)),
  },
  listWorkspaces: {
    method: "GET",
    path: "/workspaces",
    audience: "user",
    summary: "The workspaces of every ship",
    query: activeQuerySchema,
    reply: json(200, z.array(bridgeWorkspaceSummarySchema)),
  },
  createWorkspace: {
    method: "POST",
    path: "/workspaces",
    audience: "user",
    summary: "Create a workspace on a ship",
    body: bridgeCreateSchema,
    reply: json(201, bridgeWorkspaceSummarySchema),
  },
  getWorkspace: {
    method: "GET",
    path: "/workspaces/:repo/:name",
    audience: "user",
    summary: "One workspace, live from its ship",
    params: workspace,
    reply: json(200, bridgeWorkspaceStatusSchema),
  },
  deleteWorkspace: {
    method: "DELETE",
    path: "/workspaces/:repo/:name",
    audience: "user",
    summary: "Delete a workspace, whatever it holds",
    params: workspace,
    reply: ok,
  },
  diffWorkspace: {
    method: "GET",
    path: "/workspaces/:repo/:name/diff",
    audience: "user",
    summary: "The workspace's diff as text",
    params: workspace,
    query: diffQuerySchema,
    reply: { kind: "text", status: 200 },
  },
  switchBranch: {
    method: "POST",
    path: "/workspaces/:repo/:name/branch",
    audience: "user",
    summary: "Switch to a branch, creating it when it is missing",
    params: workspace,
    body: switchBranchSchema,
    reply: ok,
  },
  activateWorkspace: {
    method: "POST",
    path: "/workspaces/:repo/:name/activate",
    audience: "user",
    summary: "Start the workspace's session",
    params: workspace,
    reply: ok,
  },
  deactivateWorkspace: {
    method: "POST",
    path: "/workspaces/:repo/:name/deactivate",
    audience: "user",
    summary: "End the workspace's session",
    params: workspace,
    reply: ok,
  },
  events: {
    method: "GET",
    path: "/events",
    audience: "ticket",
    summary: "Workspace events of every ship: a sync, then every change",
    reply: { kind: "socket", frames: bridgeEventSchema },
  },
});
export type BridgeApi = typeof bridgeApi;
