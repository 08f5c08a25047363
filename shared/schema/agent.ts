/** What a coding agent tells of itself (interface, "AgentState and AgentStatus"). */
import { z } from "zod";

export const agentStates = ["idle", "planning", "building", "verifying", "awaiting"] as const;
export const agentStateSchema = z.enum(agentStates);
export type AgentState = z.infer<typeof agentStateSchema>;

export const agentStatusSchema = z.object({
  state: agentStateSchema,
  description: z.string(),
  model: z.string(),
  provider: z.string(),
  harness: z.string(),
});
export type AgentStatus = z.infer<typeof agentStatusSchema>;

export const agentInitSchema = z.object({
  model: z.string(),
  provider: z.string(),
  harness: z.string(),
  description: z.string().optional(),
});
export type AgentInit = z.infer<typeof agentInitSchema>;

export const agentUpdateSchema = z.object({ state: agentStateSchema, description: z.string() });
export type AgentUpdate = z.infer<typeof agentUpdateSchema>;

/** What a bridge pushes to a ship: where its `/repos` routes are, and the credential for them. */
export const agentCredentialsSchema = z.object({
  bridgeUrl: z.string(),
  token: z.string().min(1).max(512),
});
export type AgentCredentials = z.infer<typeof agentCredentialsSchema>;
