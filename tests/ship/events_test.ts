import assert from "node:assert/strict";
import { ManualClock } from "../../shared/clock.ts";
import { EventHub } from "../../shared/event_hub.ts";
import { limits } from "../../shared/limits.ts";
import { silentLog } from "../../shared/log.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import {
  type FleetEvent,
  fleetEventSchema,
  type WorkspaceEventType,
} from "../../shared/schema/event.ts";
import type { WorkspaceSummary } from "../../shared/schema/workspace.ts";
import { serveEvents, type WorkspaceChange } from "../../ship/events.ts";
import { workspaceId } from "../support/ids_support.ts";
import { socketPair } from "../support/socket_pair.ts";

const ship = parseIdentifier("ship", "anchor");
const summary = (name: string, description: string | null = null): WorkspaceSummary => ({
  ...workspaceId("r", name),
  branch: "main",
  active: true,
  agent: description === null
    ? null
    : { state: "building", description, model: "m", provider: "p", harness: "h" },
});

class Stage {
  readonly hub = new EventHub<WorkspaceChange>();
  readonly clock = new ManualClock();
  readonly pair = socketPair();
  readonly snapshot = Promise.withResolvers<WorkspaceSummary[]>();

  constructor() {
    const { hub, clock } = this;
    serveEvents(this.pair.near, {
      snapshot: () => this.snapshot.promise,
      hub,
      clock,
      ship,
      log: silentLog,
    });
  }

  publish(type: WorkspaceEventType, workspace: WorkspaceSummary): void {
    this.hub.publish({ type, ship, at: this.clock.now().toISOString(), workspace });
  }
  status(name: string, description: string): void {
    this.publish("workspace.agent_status_changed", summary(name, description));
  }
  async sync(workspaces: WorkspaceSummary[] = []): Promise<void> {
    this.snapshot.resolve(workspaces);
    await this.settled();
  }
  settled(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 0));
  }
  get closeCode(): number | null {
    return this.pair.far.closed?.code ?? null;
  }
  get events(): FleetEvent[] {
    return this.pair.far.received.map((frame) => fleetEventSchema.parse(JSON.parse(frame)));
  }
  /** Each event's type with its workspace and description, short enough to compare. */
  get told(): string[] {
    return this.events.map((event) =>
      event.type === "sync"
        ? `sync ${event.workspaces.map(({ name }) => name)}`
        : `${event.type.slice(10)} ${event.workspace.name} ${event.workspace.agent?.description}`
    );
  }
}

Deno.test("sync comes first, then what happened while it was built, then what happens", async () => {
  const stage = new Stage();
  stage.publish("workspace.created", summary("late"));
  stage.status("a", "1");
  stage.status("a", "2");
  assert.deepEqual(stage.told, []);
  await stage.sync([summary("a")]);
  stage.publish("workspace.removed", summary("late"));
  assert.deepEqual(stage.told, [
    "sync a",
    "created late undefined",
    "agent_status_changed a 1",
    "agent_status_changed a 2",
    "removed late undefined",
  ]);
  assert(stage.events.every((event) => event.ship === ship));
});

Deno.test("a snapshot that fails closes 1011 and ends the subscription", async () => {
  const stage = new Stage();
  stage.snapshot.reject(new Error("disk"));
  await stage.settled();
  assert.deepEqual(stage.pair.far.closed, {
    code: 1011,
    reason: "Failed to build workspace snapshot",
  });
  assert.equal(stage.hub.size, 0);
  assert.deepEqual(stage.told, []);
});

Deno.test("more than 256 KiB while the snapshot is built closes 1009", async () => {
  const stage = new Stage();
  const frame = JSON.stringify({
    type: "workspace.agent_status_changed",
    ship,
    at: stage.clock.now().toISOString(),
    workspace: summary("a", ""),
  });
  // Two bytes a character: the bound counts UTF-8, not UTF-16.
  const half = "é".repeat((limits.socketPendingBytesMax / 2 - frame.length) / 2);
  stage.status("a", half);
  stage.status("a", half);
  assert.equal(stage.closeCode, null, "exactly 256 KiB still fit");
  stage.status("a", "");
  assert.deepEqual(stage.pair.far.closed, { code: 1009, reason: "Terminal buffer limit exceeded" });
  assert.equal(stage.hub.size, 0);
  await stage.sync();
  assert.deepEqual(stage.told, []);
});

Deno.test("what the client says is ignored, its leaving ends the subscription", async () => {
  const stage = new Stage();
  stage.pair.far.sendText("{}");
  stage.pair.far.sendBinary();
  await stage.sync();
  stage.pair.far.sendText("not json");
  stage.pair.far.sendBinary();
  assert.equal(stage.closeCode, null);
  assert.equal(stage.hub.size, 1);
  stage.pair.far.close(1000);
  assert.equal(stage.hub.size, 0);
});

Deno.test("a client that leaves while the snapshot is built gets nothing", async () => {
  const stage = new Stage();
  stage.pair.far.close(1001);
  assert.equal(stage.hub.size, 0);
  await stage.sync();
  assert.deepEqual(stage.told, []);
});

Deno.test("while a socket is backed up, statuses coalesce to the latest per workspace", async () => {
  const stage = new Stage();
  await stage.sync();
  stage.pair.far.pause();
  const long = "x".repeat(20 * 1024);
  stage.publish("workspace.created", summary("b", long));
  for (let turn = 1; turn <= 100; turn += 1) {
    stage.status("a", String(turn));
    stage.status("b", String(turn));
    stage.status("c", String(turn));
  }
  // Later news of a workspace holds the status too, so the one that waits must not come after it.
  stage.publish("workspace.deactivated", summary("b"));
  stage.clock.advance(1000);
  stage.pair.far.resume();
  stage.clock.advance(1000);
  assert.deepEqual(stage.told, [
    "sync ",
    `created b ${long}`,
    "deactivated b undefined",
    "agent_status_changed a 100",
    "agent_status_changed c 100",
  ]);
  stage.status("a", "after");
  assert.equal(stage.told.at(-1), "agent_status_changed a after");
});

Deno.test("more than 256 KiB unsent terminates the subscriber", async () => {
  const stage = new Stage();
  await stage.sync();
  stage.pair.far.pause();
  const long = "x".repeat(60 * 1024);
  for (let turn = 0; turn < 4; turn += 1) stage.publish("workspace.activated", summary("a", long));
  assert.equal(stage.closeCode, null);
  stage.publish("workspace.activated", summary("a", long));
  assert.equal(stage.closeCode, 1006);
  assert.equal(stage.hub.size, 0);
});

Deno.test("a sync larger than the bound is no offence, staying behind it is", async () => {
  const stage = new Stage();
  stage.pair.far.pause();
  const long = "x".repeat(100 * 1024);
  await stage.sync(["a", "b", "c", "d"].map((name) => summary(name, long)));
  assert.equal(stage.closeCode, null);
  stage.pair.far.resume();
  assert.equal(stage.events.length, 1);
  stage.pair.far.pause();
  stage.publish("workspace.activated", summary("a", long));
  stage.publish("workspace.activated", summary("a", long));
  assert.equal(stage.closeCode, null);
  stage.publish("workspace.activated", summary("a", long));
  assert.equal(stage.closeCode, 1006, "the sync's allowance ended when it was taken");
});
