/** The tools table of a workspace's MCP endpoint: one row per tool, the endpoint knows nothing else. */
import { z } from "zod";
import { messageOf } from "../../shared/errors.ts";
import type { WorkspaceId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import {
  agentInitSchema,
  type AgentStatus,
  agentStatusSchema,
  agentUpdateSchema,
} from "../../shared/schema/agent.ts";
import type { AgentMemory } from "./memory.ts";

/** What a tool is, with the types of its schemas forgotten: a row of the table. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** True when calling it changes nothing. */
  readonly readOnly: boolean;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Gets what `input` parsed and gives what `output` describes; a failure's message reaches the agent. */
  readonly run: (
    id: WorkspaceId,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ) => Promise<Record<string, unknown>>;
}

/** A tool whose `run` is typed by its schemas. */
export interface TypedTool<Input extends z.ZodObject, Output extends z.ZodObject>
  extends Omit<Tool, "input" | "output" | "run"> {
  readonly input: Input;
  readonly output: Output;
  readonly run: (
    id: WorkspaceId,
    input: z.infer<Input>,
    signal: AbortSignal,
  ) => Promise<z.infer<Output>>;
}

/** Puts a typed tool into the table. The endpoint parses input with `input` before `run` sees it. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  typed: TypedTool<Input, Output>,
): Tool {
  return typed as unknown as Tool;
}

/** What the agent tools work on. */
export interface AgentToolsOptions {
  readonly memory: AgentMemory;
  /** Throws `workspaceNotActive` unless the workspace has a session now. */
  readonly requireActive: (id: WorkspaceId) => Promise<void>;
  /** Announces `workspace.agent_status_changed`. A failure of it is logged: the status did change. */
  readonly statusChanged: (id: WorkspaceId, status: AgentStatus) => void | Promise<void>;
  readonly log: Log;
}

/** agent_init, agent_status and agent_status_get. */
export function agentTools(options: AgentToolsOptions): Tool[] {
  const { memory, requireActive } = options;
  return [
    tool({
      name: "agent_init",
      title: "Introduce the agent",
      description: "Call once when you start work in this workspace: says which model, provider " +
        "and harness you are. Your state becomes idle. Calling it again starts over.",
      readOnly: false,
      input: agentInitSchema,
      output: agentStatusSchema,
      async run(id, input) {
        await requireActive(id);
        const status = memory.init(id, input);
        await announce(options, id, status);
        return status;
      },
    }),
    tool({
      name: "agent_status",
      title: "Report the agent's state",
      description: "Report what you are doing whenever it changes: idle (no task), planning " +
        "(working out an approach), building (making changes), verifying (checking your own " +
        "work), awaiting (blocked on a human). Needs agent_init first.",
      readOnly: false,
      input: agentUpdateSchema,
      output: agentStatusSchema,
      async run(id, input) {
        await requireActive(id);
        const status = memory.update(id, input);
        await announce(options, id, status);
        return status;
      },
    }),
    tool({
      name: "agent_status_get",
      title: "Read the agent's state",
      description: "The status last reported in this workspace, or null before agent_init.",
      readOnly: true,
      input: z.object({}),
      output: z.object({ status: agentStatusSchema.nullable() }),
      run: (id) => Promise.resolve({ status: memory.get(id) }),
    }),
  ];
}

async function announce(
  { statusChanged, log }: AgentToolsOptions,
  id: WorkspaceId,
  status: AgentStatus,
): Promise<void> {
  try {
    await statusChanged(id, status);
  } catch (thrown) {
    log.error("could not announce an agent status", { reason: messageOf(thrown) });
  }
}
