/** The commands about workspaces: ls, show, diff, activate, deactivate, switch, rm. */
import { displayText, type WorkspaceId, workspaceKey } from "../../../shared/ids.ts";
import { limits } from "../../../shared/limits.ts";
import type { AgentState, AgentStatus } from "../../../shared/schema/agent.ts";
import type { EphemeralWorkspace } from "../../../shared/schema/ephemeral.ts";
import type {
  BridgeWorkspaceStatus,
  BridgeWorkspaceSummary,
} from "../../../shared/schema/workspace.ts";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import { type Context, print } from "../context.ts";
import { CliFailure, UsageFailure } from "../failure.ts";
import {
  type Cell,
  type Colour,
  count,
  displayLines,
  facts,
  paintDiff,
  table,
  type TableOptions,
} from "../output.ts";
import { resolveWorkspace } from "../workspace_reference.ts";

type Values<Name extends keyof typeof commandTable> = ValuesOf<(typeof commandTable)[Name]>;

const params = ({ repoName, name }: WorkspaceId) => ({ repo: repoName, name });

const agentColours: Readonly<Record<AgentState, Colour>> = {
  idle: "dim",
  planning: "blue",
  building: "cyan",
  verifying: "green",
  awaiting: "yellow",
};

/** The table of `grid ls`. */
export function workspaceTable(
  workspaces: readonly BridgeWorkspaceSummary[],
  options: TableOptions,
): string {
  // Most grids have no ephemeral workspaces, and a table is soon too wide.
  const anyEphemeral = workspaces.some(({ ephemeral }) => ephemeral !== null);
  return table(
    [
      ...["WORKSPACE", "BRANCH", "SHIP", "SESSION"],
      ...(anyEphemeral ? ["ISSUE", "PULL", "CLEANUP"] : []),
      ...["AGENT", "DOING"],
    ],
    workspaces.map((one) => [
      workspaceKey(one),
      one.branch,
      one.ship,
      sessionCell(one.active),
      ...(anyEphemeral ? ephemeralCells(one.ephemeral) : []),
      one.agent === null ? "-" : { text: one.agent.state, colour: agentColours[one.agent.state] },
      one.agent?.description ?? "",
    ]),
    options,
  );
}

function ephemeralCells(record: EphemeralWorkspace | null): Cell[] {
  if (record === null) return [{ text: "-" }, { text: "-" }, { text: "-" }];
  return [{ text: `#${record.issueNumber}` }, { text: pullText(record) }, cleanupCell(record)];
}

const pullText = ({ pullRequest }: EphemeralWorkspace) =>
  pullRequest === null ? "-" : `#${pullRequest.number} ${pullRequest.state}`;

const cleanupCell = ({ cleanup }: EphemeralWorkspace): Cell =>
  cleanup === "blocked" ? { text: cleanup, colour: "yellow" } : { text: cleanup };

const sessionCell = (active: boolean): Cell =>
  active ? { text: "active", colour: "green" } : { text: "-" };

export async function listWorkspaces(values: Values<"ls">, context: Context): Promise<void> {
  if (values.active && values.inactive) {
    throw new UsageFailure("--active and --inactive exclude each other: give one, or none for all");
  }
  const query = values.active ? { active: "true" } : values.inactive ? { active: "false" } : {};
  const workspaces = await context.client.call("listWorkspaces", { query });
  const none = values.active
    ? "no active workspaces: `grid activate <workspace>` starts a session\n"
    : values.inactive
    ? "no inactive workspaces\n"
    : "no workspaces yet: `grid new <repo> <name>` creates one\n";
  print(context, workspaces, workspaces.length === 0 ? none : workspaceTable(workspaces, context));
}

export async function showWorkspace(values: Values<"show">, context: Context): Promise<void> {
  const id = await resolveWorkspace(context, values.workspace);
  const status = await context.client.call("getWorkspace", { params: params(id) });
  print(context, status, facts(statusFacts(status), context.paint));
}

function statusFacts(status: BridgeWorkspaceStatus): Array<[string, Cell | string]> {
  const shared: Array<[string, Cell | string]> = [
    ["workspace", workspaceKey(status)],
    ["branch", status.branch],
    ["ship", status.ship],
  ];
  const { ephemeral } = status;
  if (ephemeral !== null) {
    shared.push(["issue", `#${ephemeral.issueNumber}`]);
    shared.push(["pull request", pullText(ephemeral)]);
    shared.push(["cleanup", cleanupCell(ephemeral)]);
    if (ephemeral.blockedReason !== null) shared.push(["blocked", ephemeral.blockedReason]);
  }
  switch (status.state) {
    case "inactive":
      return [...shared, ["session", "none"]];
    case "active":
      return [
        ...shared,
        ["session", { text: "active", colour: "green" }],
        [
          "changes",
          `+${status.diff.added} -${status.diff.removed}, ` +
          `${count(status.diff.commits, "commit")} not pushed`,
        ],
        ...agentFacts(status.agent),
      ];
  }
}

function agentFacts(agent: AgentStatus | null): Array<[string, Cell | string]> {
  if (agent === null) return [["agent", "none has reported"]];
  const made = [agent.model, agent.provider, agent.harness].filter((part) => part !== "");
  return [
    ["agent", { text: agent.state, colour: agentColours[agent.state] }],
    ["doing", agent.description],
    ["with", made.join(", ")],
  ];
}

export async function diffWorkspace(values: Values<"diff">, context: Context): Promise<void> {
  if (values.staged && values.range !== undefined) {
    throw new UsageFailure("--staged and --range exclude each other: give one of them");
  }
  const id = await resolveWorkspace(context, values.workspace);
  const query = {
    ...(values.staged ? { staged: true } : {}),
    ...(values.stat ? { stat: true } : {}),
    ...(values["name-only"] ? { nameOnly: true } : {}),
    ...(values.range === undefined ? {} : { range: values.range }),
    ...(values.untracked ? { includeUntracked: true } : {}),
    ...(values.paths.length === 0 ? {} : { paths: [...values.paths] }),
  };
  const text = await context.client.call("diffWorkspace", { params: params(id), query });
  if (context.json) return print(context, { ...onlyId(id), diff: text }, "");
  // In a pipe the bytes are left alone: `grid diff x | git apply` must work.
  if (!context.io.outputIsTerminal) return void context.io.out(text);
  context.io.out(text === "" ? "no changes\n" : paintDiff(displayLines(text), context.paint));
}

const onlyId = ({ repoName, name }: WorkspaceId) => ({ repoName, name });

export async function activate(values: Values<"activate">, context: Context): Promise<void> {
  const id = await resolveWorkspace(context, values.workspace);
  const reply = await context.client.call("activateWorkspace", { params: params(id) });
  print(context, reply, `${displayText(workspaceKey(id))} is active\n`);
}

export async function deactivate(values: Values<"deactivate">, context: Context): Promise<void> {
  const id = await resolveWorkspace(context, values.workspace);
  const reply = await context.client.call("deactivateWorkspace", { params: params(id) });
  print(context, reply, `${displayText(workspaceKey(id))} is inactive; its files are untouched\n`);
}

export async function switchBranch(values: Values<"switch">, context: Context): Promise<void> {
  const id = await resolveWorkspace(context, values.workspace);
  const reply = await context.client.call("switchBranch", {
    params: params(id),
    body: { branch: values.branch },
  });
  print(
    context,
    reply,
    `${displayText(workspaceKey(id))} is on ${displayText(values.branch)}\n`,
  );
}

export async function removeWorkspace(values: Values<"rm">, context: Context): Promise<void> {
  const id = await resolveWorkspace(context, values.workspace);
  const key = displayText(workspaceKey(id));
  if (!values.yes) {
    if (!context.io.inputIsTerminal) {
      throw new UsageFailure(
        `deleting ${key} needs a yes: there is no terminal to ask on, add --yes`,
      );
    }
    const loss = lossText(await context.client.call("getWorkspace", { params: params(id) }));
    const answer = await context.io.ask(`Delete ${key}? ${loss} [y/N] `);
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) {
      throw new CliFailure(`${key} was left as it is`);
    }
  }
  const reply = await context.client.call("deleteWorkspace", { params: params(id) }, {
    timeoutMs: limits.shipDeleteMs,
  });
  print(context, reply, `deleted ${key}\n`);
}

/** What deleting would lose, as far as its status tells. */
export function lossText(status: BridgeWorkspaceStatus): string {
  switch (status.state) {
    case "inactive":
      return "Whatever is not pushed is lost.";
    case "active": {
      const { added, removed, commits } = status.diff;
      const lost = [
        ...(added + removed > 0 ? [`changes not committed (+${added} -${removed})`] : []),
        ...(commits > 0 ? [`${count(commits, "commit")} not pushed`] : []),
        "its running session",
      ];
      return `This loses ${lost.join(", ")}, and files that git does not track.`;
    }
  }
}
