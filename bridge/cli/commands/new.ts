/** `grid new`: creates a workspace, with the clone's progress on the way. */
import { displayText, workspaceKey } from "../../../shared/ids.ts";
import { limits } from "../../../shared/limits.ts";
import { CallError } from "../../../shared/http/client.ts";
import { readText } from "../../../shared/http/body.ts";
import { readEvents } from "../../../shared/http/event_stream.ts";
import { parseIdentifier } from "../../../shared/parse.ts";
import {
  type BridgeWorkspaceSummary,
  bridgeWorkspaceSummarySchema,
  type CloneProgress,
  cloneProgressSchema,
} from "../../../shared/schema/workspace.ts";
import { z } from "zod";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import { type Context, print } from "../context.ts";
import { CliFailure, UsageFailure } from "../failure.ts";
import { ProgressLine } from "../progress.ts";

type Values = ValuesOf<(typeof commandTable)["new"]>;

const resultSchema = z.object({ status: z.number(), body: z.unknown() });

export async function newWorkspace(values: Values, context: Context): Promise<void> {
  const repoName = parseIdentifier("repo", values.repo);
  const from = source(values);
  const name = parseIdentifier("workspace", from.name);
  const ship = values.ship === undefined
    ? await onlyOnlineShip(context)
    : parseIdentifier("ship", values.ship);
  const body = { ship, repoName, name, ...from.body };
  const made = await create(context, body);
  const key = displayText(workspaceKey(made));
  print(
    context,
    made,
    `created ${key} on ${displayText(made.ship)}, branch ${displayText(made.branch)}\n` +
      `next: grid activate ${quoted(key)}\n`,
  );
}

/** What the workspace is made from, and what it is called when nothing else is said. */
function source({ name, branch, issue, ephemeral }: Values) {
  if (issue === undefined) {
    if (ephemeral) {
      throw new UsageFailure("--ephemeral needs --issue: it follows the issue's branch");
    }
    if (name === undefined) {
      throw new UsageFailure(
        "missing <name>: grid new <repo> <name>, or grid new <repo> --issue N",
      );
    }
    return { name, body: { branch: branch ?? name } };
  }
  if (branch !== undefined) {
    throw new UsageFailure("--issue and --branch exclude each other: the issue has its own branch");
  }
  const body = { issueNumber: issue, ...(ephemeral ? { ephemeral } : {}) };
  return { name: name ?? `issue-${issue}`, body };
}

/** Names may hold spaces; a hint must be one that can be pasted. */
const quoted = (text: string) =>
  /^[\p{L}\p{N}._/@+-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

async function onlyOnlineShip({ client }: Context): Promise<string> {
  const ships = await client.call("listShips", {});
  const online = ships.filter(({ status }) => status === "online");
  const [ship, second] = online;
  if (ship !== undefined && second === undefined) return ship.name;
  const names = (ship === undefined ? ships : online).map((one) => one.name).join(", ");
  if (ship !== undefined) {
    throw new CliFailure(`${online.length} ships are online (${names}): say which with --ship`);
  }
  throw new CliFailure(
    names === ""
      ? "no ship is registered: `grid ship add <url>` adds one, `grid up` runs one here"
      : `no ship is online (offline: ${names}): start one, or say --ship to try anyway`,
  );
}

interface CreateBody {
  readonly ship: string;
  readonly repoName: string;
  readonly name: string;
  readonly branch?: string;
  readonly issueNumber?: number;
  readonly ephemeral?: boolean;
}

/** The streamed form of the request; a bridge that answers plainly is understood as well. */
async function create(context: Context, body: CreateBody): Promise<BridgeWorkspaceSummary> {
  const response = await context.client.open("createWorkspace", { body }, {
    timeoutMs: limits.shipCreateMs,
    headers: { accept: "text/event-stream, application/json" },
  });
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream") || response.body === null) {
    const text = await readText(response.body, limits.shipReplyBytesMax);
    return readResult({ status: response.status, body: parseJson(text ?? "") });
  }
  const draw = context.io.errorIsTerminal && !context.json;
  using line = new ProgressLine((text) => context.io.err(text), context.io.columns);
  return await followStream(response.body, (progress) => {
    if (draw) line.show(progress);
  });
}

async function followStream(
  stream: ReadableStream<Uint8Array>,
  onProgress: (progress: CloneProgress) => void,
): Promise<BridgeWorkspaceSummary> {
  const result = await lastResult(stream, onProgress).catch((cause: unknown) => {
    throw new CliFailure(wentAway, { cause });
  });
  if (result === null) throw new CliFailure(wentAway);
  return readResult(result);
}

const wentAway =
  "the bridge went away before the workspace was finished: `grid ls` shows whether it is there";

async function lastResult(
  stream: ReadableStream<Uint8Array>,
  onProgress: (progress: CloneProgress) => void,
): Promise<z.output<typeof resultSchema> | null> {
  for await (const { event, data } of readEvents(stream)) {
    const value = parseJson(data);
    if (event === "progress") {
      const progress = cloneProgressSchema.safeParse(value);
      if (progress.success) onProgress(progress.data);
    } else if (event === "result") {
      const result = resultSchema.safeParse(value);
      if (result.success) return result.data;
    }
  }
  return null;
}

function readResult({ status, body }: { status: number; body?: unknown }): BridgeWorkspaceSummary {
  if (status !== 201) {
    const error = body as { error?: unknown; reason?: unknown } | null;
    throw new CallError(
      "status",
      typeof error?.error === "string" ? error.error : `HTTP ${status}`,
      status,
      typeof error?.reason === "string" ? error.reason : undefined,
    );
  }
  const parsed = bridgeWorkspaceSummarySchema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new CallError("invalid", "an answer that does not fit createWorkspace", status);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
