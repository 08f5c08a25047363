/** `grid attach` and `grid capture`: a session's screen, in the terminal or printed. */
import { systemClock } from "../../../shared/clock.ts";
import { bridgeApi } from "../../../shared/api/bridge_api.ts";
import { dial, DialError } from "../../../shared/host/dial.ts";
import { fillPath } from "../../../shared/http/client.ts";
import { CallError } from "../../../shared/http/client.ts";
import type { Socket } from "../../../shared/http/socket.ts";
import { queryString } from "../../../shared/http/target.ts";
import { displayText, type WorkspaceId, workspaceKey } from "../../../shared/ids.ts";
import { limits } from "../../../shared/limits.ts";
import type { ValuesOf } from "../arguments.ts";
import { type Absence, absenceOf } from "../attach/absence.ts";
import { attach } from "../attach/attach.ts";
import { capture, printedScreen } from "../attach/capture.ts";
import type { commandTable } from "../command_table.ts";
import type { Context } from "../context.ts";
import { CliFailure, exitCodes, UsageFailure } from "../failure.ts";
import { resolveWorkspace } from "../workspace_reference.ts";

type Table = typeof commandTable;

const openMs = 10_000;
const sizeDefault = { cols: 80, rows: 24 };

export async function attachWorkspace(
  values: ValuesOf<Table["attach"]>,
  context: Context,
): Promise<number> {
  const terminal = context.io.terminal();
  if (terminal === null) {
    throw new UsageFailure("attach needs a terminal: `grid capture` prints the screen without one");
  }
  const id = await resolveWorkspace(context, values.workspace);
  const name = displayText(workspaceKey(id));
  const ending = await attach({
    terminal,
    open: (signal) => openTerminal(context, id, signal),
    isFatal,
    absence: (signal) => absence(context, id, signal),
    clock: systemClock,
    name,
    readOnly: values["read-only"],
    stop: context.io.stop,
  });
  switch (ending.kind) {
    case "exit":
      return ending.code;
    case "stopped":
      return exitCodes.cancelled;
    case "detached":
      context.io.err(`detached from ${name}; its session goes on\n`);
      return exitCodes.done;
    case "refused":
      throw closed(name, ending);
  }
}

export async function captureWorkspace(
  values: ValuesOf<Table["capture"]>,
  context: Context,
): Promise<void> {
  const id = await resolveWorkspace(context, values.workspace);
  const size = {
    cols: bounded("--cols", values.cols ?? sizeDefault.cols, limits.terminalColsMax),
    rows: bounded("--rows", values.rows ?? sizeDefault.rows, limits.terminalRowsMax),
  };
  const socket = await openTerminal(context, id, context.io.stop);
  const captured = await capture({ socket, clock: systemClock, size });
  switch (captured.kind) {
    case "absent":
      throw (await absence(context, id, context.io.stop)).failure;
    case "closed":
      throw closed(displayText(workspaceKey(id)), captured);
    case "screen": {
      const format = context.json ? "json" : values.ansi ? "ansi" : "text";
      context.io.out(printedScreen(captured.grid, format));
    }
  }
}

function closed(name: string, { code, reason }: { code: number; reason: string }): CliFailure {
  return new CliFailure(
    `the terminal of ${name} was closed (${reason || code}): try again, or look at ` +
      "`grid ship ls` and the log of its ship",
  );
}

function absence(context: Context, id: WorkspaceId, signal: AbortSignal): Promise<Absence> {
  const params = { repo: id.repoName, name: id.name };
  return absenceOf(
    displayText(workspaceKey(id)),
    context.client.call("getWorkspace", { params }, { signal }),
  );
}

function bounded(flag: string, value: number, max: number): number {
  if (value >= 1 && value <= max) return value;
  throw new UsageFailure(`${flag} must be 1 to ${max}`);
}

/** A socket to the workspace's terminal, with a new ticket where the bridge asks for one. */
async function openTerminal(
  { client, url }: Context,
  id: WorkspaceId,
  signal: AbortSignal,
): Promise<Socket> {
  const { authRequired } = await client.call("authMode", {}, { signal });
  const query = authRequired
    ? { ticket: (await client.call("wsTicket", {}, { signal })).ticket }
    : {};
  const path = fillPath(bridgeApi.terminal.path, { repo: id.repoName, name: id.name });
  return await dial(url.replace(/^http/, "ws") + path + queryString(query), {
    openTimeoutMs: openMs,
    payloadBytesMax: limits.terminalPayloadBytesMax,
    compress: true,
    heartbeatMs: limits.heartbeatMs,
    signal,
  });
}

/** An answer of the bridge stays what it is; only a bridge that cannot be reached is tried again. */
function isFatal(thrown: unknown): boolean {
  if (thrown instanceof CallError) return thrown.kind !== "transport" && isFinal(thrown.status);
  if (thrown instanceof DialError) return thrown.status !== undefined && isFinal(thrown.status);
  return true;
}

const isFinal = (status: number) => status < 500 && status !== 429;
