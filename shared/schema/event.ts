/** Frames of the two `/events` sockets (interface, "Events"). */
import { z } from "zod";
import { shipNameSchema } from "./identifier.ts";
import { bridgeWorkspaceSummarySchema, workspaceSummarySchema } from "./workspace.ts";

export const workspaceEventTypes = [
  "workspace.created",
  "workspace.branch_changed",
  "workspace.activated",
  "workspace.deactivated",
  "workspace.agent_status_changed",
  "workspace.removed",
] as const;
export type WorkspaceEventType = (typeof workspaceEventTypes)[number];
const workspaceEventType = z.enum(workspaceEventTypes);

const at = z.iso.datetime();

/** What a ship sends. */
export const fleetEventSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("sync"),
    ship: shipNameSchema,
    at,
    workspaces: z.array(workspaceSummarySchema),
  }),
  z.object({
    type: workspaceEventType,
    ship: shipNameSchema,
    at,
    workspace: workspaceSummarySchema,
  }),
]);
export type FleetEvent = z.infer<typeof fleetEventSchema>;

/** What the bridge sends: no top-level ship, each workspace names its own. */
export const bridgeEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("sync"), at, workspaces: z.array(bridgeWorkspaceSummarySchema) }),
  z.object({ type: workspaceEventType, at, workspace: bridgeWorkspaceSummarySchema }),
]);
export type BridgeEvent = z.infer<typeof bridgeEventSchema>;
