import assert from "node:assert/strict";
import { ManualClock } from "../../shared/clock.ts";
import { dial } from "../../shared/host/dial.ts";
import { listen } from "../../shared/host/listen.ts";
import { limits } from "../../shared/limits.ts";
import { type BridgeEvent, bridgeEventSchema } from "../../shared/schema/event.ts";
import { FleetRig, type KeptSocket } from "../support/fleet_rig.ts";
import { until } from "../support/listen_support.ts";
import { row, ShipDouble } from "../support/ship_double.ts";

const told = (socket: KeptSocket) =>
  socket.events.map((event: BridgeEvent) =>
    event.type === "sync"
      ? `sync ${event.workspaces.map(({ ship, name }) => `${ship}:${name}`).join(" ")}`
      : `${event.type} ${event.workspace.ship}:${event.workspace.name}`
  );
const agent = (description: string) => ({
  state: "building" as const,
  description,
  model: "m",
  provider: "p",
  harness: "h",
});

Deno.test("events: over a real socket, a sync first, then every change, all fit their schema", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await FleetRig.start();
  await rig.register(ship);
  const listener = await listen({ hostname: "127.0.0.1", port: 0, fetch: rig.fetch });
  const socket = await dial(`${listener.url.replace("http", "ws")}/events`, {
    openTimeoutMs: 5000,
  });
  const frames: string[] = [];
  socket.onText((text) => void frames.push(text));
  socket.send("ignored");
  await until("the sync", () => frames.length > 0);
  await rig.ask("POST", "/workspaces/r/a/activate");
  await until("the change", () => frames.some((text) => text.includes("workspace.activated")));
  const events = frames.map((text) => bridgeEventSchema.parse(JSON.parse(text)));
  assert.equal(events[0]?.type, "sync");
  assert.ok(frames.every((text) => !("ship" in JSON.parse(text))), "no top-level ship");
  const closed = Promise.withResolvers<number>();
  socket.onClose((code) => closed.resolve(code));
  rig.events[Symbol.dispose]();
  assert.equal(await closed.promise, 1001);
  await listener.shutdown();
});

Deno.test("events: registration, removal of a workspace and of a ship each bring an aggregate sync", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/a", "r/b"]);
  await using rig = await FleetRig.start();
  const socket = rig.attach();
  await rig.register(ship);
  await until("a sync of the new ship", () => told(socket).includes("sync alpha:a alpha:b"));
  await rig.ask("DELETE", "/workspaces/r/a");
  await until("a sync without a", () => told(socket).at(-1) === "sync alpha:b");
  ship.workspaces.delete("r/b");
  ship.emit("workspace.removed", row("r/b"));
  await until("a sync without b", () => told(socket).at(-1) === "sync ");
  ship.workspaces.set("r/c", row("r/c"));
  ship.sync();
  await until("a ship's sync", () => told(socket).at(-1) === "sync alpha:c");
  await rig.ask("DELETE", "/ships/alpha");
  await until("a sync without the ship", () => told(socket).at(-1) === "sync ");
  assert.ok(told(socket).every((line) => line.startsWith("sync")), told(socket).join());
});

Deno.test("events: of a workspace that another ship owns are dropped", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using beta = await ShipDouble.start("beta");
  await using rig = await FleetRig.start();
  await rig.register(alpha);
  await rig.register(beta);
  const socket = rig.attach();
  beta.emit("workspace.activated", row("r/a", { active: true }));
  beta.emit("workspace.removed", row("r/a"));
  beta.emit("workspace.created", row("r/own"));
  await until("beta's own", () => told(socket).includes("workspace.created beta:own"));
  assert.ok(!told(socket).some((line) => line.includes("activated")));
  assert.equal(rig.fleet.ownership.ownerOf(row("r/a")), "alpha");
});

Deno.test("events: changes come in the order in which the ship told them", async () => {
  await using ship = await ShipDouble.start("alpha");
  await using rig = await FleetRig.start();
  await rig.register(ship);
  const socket = rig.attach();
  const types = ["created", "branch_changed", "activated", "agent_status_changed", "deactivated"]
    .map((type) => `workspace.${type}` as "workspace.created");
  for (const type of types) ship.emit(type, row("r/w"));
  await until("all of them", () => told(socket).some((line) => line.includes("deactivated")));
  const changes = told(socket).filter((line) => line.startsWith("workspace."));
  assert.deepEqual(changes, types.map((type) => `${type} alpha:w`));
});

/** A rig on a manual clock, and a way to have the fleet report a status. */
async function manual() {
  const clock = new ManualClock();
  const rig = await FleetRig.start({ clock });
  const status = (name: string, description: string) => {
    const workspace = { ...row(`r/${name}`, { agent: agent(description) }), ship: "alpha" };
    rig.fleet.changes.publish({
      kind: "workspace",
      type: "workspace.agent_status_changed",
      workspace: workspace as never,
      at: clock.now().toISOString(),
    });
  };
  return { clock, rig, status };
}
const descriptions = (socket: KeptSocket) =>
  socket.events.flatMap((event) =>
    event.type === "sync" ? [] : [`${event.workspace.name}:${event.workspace.agent?.description}`]
  );

Deno.test("events: syncs asked for within the debounce are one", async () => {
  const { clock, rig } = await manual();
  await using _rig = rig;
  const socket = rig.attach();
  for (let count = 0; count < 50; count += 1) rig.events.syncSoon();
  clock.advance(limits.aggregateSyncDebounceMs - 1);
  assert.equal(socket.events.length, 1);
  clock.advance(1);
  assert.equal(socket.events.length, 2);
  clock.advance(1000);
  assert.equal(socket.events.length, 2);
});

Deno.test("events: statuses coalesce to the latest of each workspace", async () => {
  const { clock, rig, status } = await manual();
  await using _rig = rig;
  const socket = rig.attach();
  for (let count = 0; count < 100; count += 1) status("a", `a${count}`);
  status("b", "b0");
  assert.deepEqual(descriptions(socket), ["a:a0", "b:b0"]);
  rig.attach();
  clock.advance(100);
  assert.deepEqual(descriptions(socket), ["a:a0", "b:b0", "a:a99"]);
  status("a", "late");
  clock.advance(100);
  assert.deepEqual(descriptions(socket).at(-1), "a:late");
});

Deno.test("events: a newer change of the workspace makes a waiting status needless", async () => {
  const { clock, rig, status } = await manual();
  await using _rig = rig;
  const socket = rig.attach();
  status("a", "first");
  status("a", "stale");
  rig.fleet.changes.publish({
    kind: "workspace",
    type: "workspace.deactivated",
    workspace: { ...row("r/a"), ship: "alpha" } as never,
    at: clock.now().toISOString(),
  });
  clock.advance(1000);
  assert.deepEqual(descriptions(socket), ["a:first", "a:undefined"]);
});

Deno.test("events: a subscriber with more than 256 KiB unsent is terminated, the others go on", async () => {
  const { rig, status } = await manual();
  await using _rig = rig;
  const slow = rig.attach();
  const well = rig.attach();
  slow.bufferedBytes = limits.socketPendingBytesMax;
  status("a", "1");
  assert.equal(slow.terminated, false);
  slow.bufferedBytes = limits.socketPendingBytesMax + 1000;
  status("b", "2");
  assert.equal(slow.terminated, true);
  assert.equal(rig.events.subscriberCount, 1);
  assert.deepEqual(descriptions(well), ["a:1", "b:2"]);
});

Deno.test("events: a large sync under way is no sign of a slow client, what piles up behind it is", async () => {
  await using ship = await ShipDouble.start("alpha");
  for (let count = 0; count < 4000; count += 1) {
    ship.workspaces.set(`r/w${count}`, row(`r/w${count}`, { branch: "b".repeat(100) }));
  }
  await using rig = await FleetRig.start();
  await rig.register(ship);
  await until("all are known", () => rig.fleet.ownership.list().length === 4000);
  const socket = rig.attach();
  const syncBytes = JSON.stringify(socket.events[0]).length;
  assert.ok(syncBytes > 2 * limits.socketPendingBytesMax);
  socket.bufferedBytes = syncBytes;
  ship.emit("workspace.activated", row("r/w1"));
  await until("it is told", () => socket.events.length === 2);
  socket.bufferedBytes = syncBytes + limits.socketPendingBytesMax + 1;
  ship.emit("workspace.activated", row("r/w2"));
  await until("it is dropped", () => socket.terminated);
});
