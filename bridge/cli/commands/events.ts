/** `grid events`: one line per event, for as long as it is wanted. */
import { displayText, workspaceKey } from "../../../shared/ids.ts";
import { limits } from "../../../shared/limits.ts";
import { CallError } from "../../../shared/http/client.ts";
import { queryString } from "../../../shared/http/target.ts";
import { type BridgeEvent, bridgeEventSchema } from "../../../shared/schema/event.ts";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import type { Context } from "../context.ts";
import { CliFailure, UsageFailure } from "../failure.ts";
import { count, type Paint } from "../output.ts";

type Values = ValuesOf<(typeof commandTable)["events"]>;

/** How one connection ended. */
type Ending = "enough" | "stopped" | "lost" | "refused";

const openMs = 10_000;

export async function followEvents({ limit }: Values, context: Context): Promise<void> {
  if (limit === 0) throw new UsageFailure("--limit must be at least 1");
  let left = limit ?? Infinity;
  let waitMs: number = limits.reconnectMinMs;
  let failed = false;
  for (let first = true;; first = false) {
    const ending = await followOnce(context, (event) => {
      waitMs = limits.reconnectMinMs;
      if (failed) context.io.err("connected again\n");
      failed = false;
      left -= 1;
      return context.io.out(eventLine(event, context)) && left > 0;
    }, first);
    if (ending === "enough" || ending === "stopped") return;
    if (first && ending === "refused") {
      throw new CliFailure(
        `${context.url} opens no events socket: is it a bridge of this version?`,
      );
    }
    if (!failed) context.io.err("connection lost: trying again until Ctrl-C\n");
    failed = true;
    await pause(Math.random() * waitMs + limits.reconnectMinMs / 2, context.io.stop);
    if (context.io.stop.aborted) return;
    waitMs = Math.min(waitMs * 2, limits.reconnectMaxMs);
  }
}

/** Follows one socket until it ends or `onEvent` says that it was enough. */
async function followOnce(
  context: Context,
  onEvent: (event: BridgeEvent) => boolean,
  first: boolean,
): Promise<Ending> {
  const { client, io: { stop: signal } } = context;
  let query: { ticket?: string } = {};
  try {
    const { authRequired } = await client.call("authMode", {}, { signal });
    if (authRequired) query = { ticket: (await client.call("wsTicket", {}, { signal })).ticket };
  } catch (thrown) {
    if (context.io.stop.aborted) return "stopped";
    // The first time nobody has been heard yet: that is a failure, not an interruption.
    const answered = thrown instanceof CallError && thrown.kind === "status";
    if (first || (answered && thrown.status < 500)) throw thrown;
    return "lost";
  }
  const url = context.url.replace(/^http/, "ws") + "/events" + queryString(query);
  return await new Promise<Ending>((resolve) => {
    const socket = new WebSocket(url);
    let ending: Ending | null = null;
    let opened = false;
    const end = (how: Ending) => {
      ending ??= how;
      socket.close();
    };
    const stop = () => end("stopped");
    const timer = setTimeout(() => end("refused"), openMs);
    context.io.stop.addEventListener("abort", stop, { once: true });
    socket.onopen = () => {
      opened = true;
      clearTimeout(timer);
    };
    socket.onmessage = ({ data }) => {
      if (ending !== null) return;
      const event = readEvent(data);
      // A frame that does not fit the union comes from another version; the others are still true.
      if (event === null) context.io.err("an event of an unknown kind was left out\n");
      else if (!onEvent(event)) end("enough");
    };
    socket.onclose = () => {
      clearTimeout(timer);
      context.io.stop.removeEventListener("abort", stop);
      resolve(ending ?? (opened ? "lost" : "refused"));
    };
    // `close` follows, and says all there is to say.
    socket.onerror = (event) => event.preventDefault();
  });
}

function readEvent(data: unknown): BridgeEvent | null {
  if (typeof data !== "string") return null;
  try {
    return bridgeEventSchema.parse(JSON.parse(data));
  } catch {
    return null;
  }
}

/** One event: a JSON object (NDJSON), or time, what happened, and where. */
export function eventLine(
  event: BridgeEvent,
  { json, paint }: { readonly json: boolean; readonly paint: Paint },
): string {
  if (json) return `${JSON.stringify(event)}\n`;
  const time = paint("dim", event.at.slice(11, 19));
  if (event.type === "sync") {
    const active = event.workspaces.filter((one) => one.active).length;
    const figures = `${count(event.workspaces.length, "workspace")}, ${active} active`;
    return `${time} ${paint("dim", "sync".padEnd(14))} ${figures}\n`;
  }
  const { workspace } = event;
  const what = event.type.slice("workspace.".length).replaceAll("_", " ");
  return `${time} ${paint("cyan", shortName(what).padEnd(14))} ${
    displayText(workspaceKey(workspace))
  }${displayText(detail(event))}\n`;
}

const shortName = (what: string) => what === "agent status changed" ? "agent" : what;

function detail(event: Exclude<BridgeEvent, { type: "sync" }>): string {
  const { workspace } = event;
  switch (event.type) {
    case "workspace.created":
      return ` on ${workspace.ship}, branch ${workspace.branch}`;
    case "workspace.branch_changed":
      return ` to ${workspace.branch}`;
    case "workspace.agent_status_changed":
      return workspace.agent === null
        ? ""
        : ` ${workspace.agent.state}: ${workspace.agent.description}`;
    case "workspace.activated":
    case "workspace.deactivated":
    case "workspace.removed":
      return ` on ${workspace.ship}`;
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    stop.addEventListener("abort", done, { once: true });
    if (stop.aborted) done();
  });
}
