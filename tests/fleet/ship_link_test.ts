import assert from "node:assert/strict";
import { type Dial, ShipEvents } from "../../bridge/fleet/ship_events.ts";
import { backoffMs, ShipLink } from "../../bridge/fleet/ship_link.ts";
import { ManualClock } from "../../shared/clock.ts";
import { dial } from "../../shared/host/dial.ts";
import type { ShipName } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import { createLog, silentLog } from "../../shared/log.ts";
import { until } from "../support/listen_support.ts";
import { FleetRig, KeptSocket } from "../support/fleet_rig.ts";
import { row, ShipDouble } from "../support/ship_double.ts";

const name = "alpha" as ShipName;
const noObserver = { online() {}, event() {}, offline() {} };

Deno.test("link: the backoff doubles from half a second to thirty, with full jitter below", () => {
  assert.deepEqual([0, 1, 2, 5, 6, 7, 1000].map((attempt) => backoffMs(attempt, 1)), [
    500,
    1000,
    2000,
    16_000,
    30_000,
    30_000,
    30_000,
  ]);
  assert.equal(backoffMs(3, 0), 0);
  assert.equal(backoffMs(3, 0.5), 2000);
});

Deno.test("link: attempts wait their turn on the clock, and a stopped link makes none", async () => {
  const clock = new ManualClock();
  let attempts = 0;
  const refusing: Dial = () => {
    attempts += 1;
    return Promise.reject(new Error("refused"));
  };
  const link = new ShipLink({
    record: { name, url: "http://127.0.0.1:1" },
    dial: refusing,
    clock,
    log: silentLog,
    bridgeToken: () => Promise.resolve(null),
    observer: noObserver,
    random: () => 1,
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
  link.start();
  await settle();
  assert.equal(attempts, 1);
  for (const waitMs of [500, 1000, 2000]) {
    const before: number = attempts;
    clock.advance(waitMs - 1);
    await settle();
    assert.equal(attempts, before, `no attempt before ${waitMs} ms`);
    clock.jump(31 * 24 * 3_600_000);
    clock.jump(-62 * 24 * 3_600_000);
    await settle();
    assert.equal(attempts, before, "the wall clock starts no attempt");
    clock.advance(1);
    await settle();
    assert.equal(attempts, before + 1);
  }
  link.stop();
  clock.advance(120_000);
  await settle();
  assert.equal(attempts, 4);
  assert.equal(link.status, "offline");
});

Deno.test("link: a late socket of a given-up attempt is dropped", async () => {
  const clock = new ManualClock();
  const socket = new KeptSocket();
  const late = Promise.withResolvers<KeptSocket>();
  const link = new ShipLink({
    record: { name, url: "http://127.0.0.1:1" },
    dial: () => late.promise,
    clock,
    log: silentLog,
    bridgeToken: () => Promise.resolve(null),
    observer: noObserver,
    random: () => 1,
  });
  link.start();
  await new Promise((resolve) => setTimeout(resolve, 5));
  clock.advance(limits.probeMs);
  late.resolve(socket);
  await until("the late socket is dropped", () => socket.terminated);
  assert.equal(link.status, "offline");
  link.stop();
});

Deno.test("link: what an older connection says or suffers has no effect on a newer one", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/w"]);
  await using rig = await FleetRig.start();
  await rig.register(ship);
  const link = rig.fleet.link(name);
  assert.ok(link);
  const old = link.generation;
  ship.cut();
  await rig.becomes(ship, "offline");
  ship.mend();
  await rig.becomes(ship, "online");
  assert.ok(link.generation > old);
  link.drop(old, "a call of the older connection failed");
  assert.equal(link.status, "online");
  link.drop(link.generation, "a call failed");
  assert.equal(link.status, "offline");
  await rig.becomes(ship, "online");
});

Deno.test("link: a ship that goes silent turns offline by its heartbeat, and comes back", async () => {
  await using ship = await ShipDouble.start("alpha");
  await using rig = await FleetRig.start({
    dial: (url, options) => dial(url, { ...options, heartbeatMs: 100 }),
  });
  await rig.register(ship);
  ship.freeze();
  await rig.becomes(ship, "offline");
  ship.cut();
  ship.mend();
  await rig.becomes(ship, "online");
});

Deno.test("link: a ship that comes back under another name owns nothing and is logged", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/mine"]);
  await using rig = await FleetRig.start();
  await rig.register(ship);
  ship.cut();
  await rig.becomes(ship, "offline");
  ship.name = "mallory" as ShipName;
  ship.workspaces.set("r/stolen", row("r/stolen"));
  ship.mend();
  await until("the impostor is logged", () => rig.logged.some((line) => line.includes("mallory")));
  assert.equal(rig.status("alpha"), "offline");
  assert.deepEqual(rig.fleet.ownership.list().map(({ name }) => name), ["mine"]);
  assert.equal((await rig.ask("GET", "/workspaces/r/stolen")).status, 404);
  ship.name = name;
  await rig.becomes("alpha", "online");
});

Deno.test("link: an event under another ship's name drops the connection", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/w"]);
  await using other = await ShipDouble.start("beta", ["r/b"]);
  await using rig = await FleetRig.start();
  await rig.register(ship);
  await rig.register(other);
  const before = rig.fleet.link(name)?.generation ?? 0;
  ship.emit("workspace.removed", row("r/b"), other.name);
  await until(
    "alpha is connected anew",
    () => (rig.fleet.link(name)?.generation ?? 0) > before && rig.status(ship) === "online",
  );
  assert.equal(rig.fleet.ownership.ownerOf(row("r/b")), other.name);
});

Deno.test("link: a frame outside the protocol drops the connection, and a sync mends the index", async () => {
  await using ship = await ShipDouble.start("alpha");
  await using rig = await FleetRig.start();
  await rig.register(ship);
  ship.workspaces.set("r/missed", row("r/missed"));
  ship.send({ type: "nonsense" });
  await until("the missed workspace is known", () => rig.fleet.ownership.list().length === 1);
});

Deno.test("link: the same trouble again is logged once", async () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const link = new ShipLink({
    record: { name, url: "http://127.0.0.1:1" },
    dial: () => Promise.reject(new Error("could not reach http://user:canary@host/x?t=canary")),
    clock,
    log: createLog("human", (line) => void lines.push(line)),
    bridgeToken: () => Promise.resolve(null),
    observer: noObserver,
    random: () => 1,
  });
  link.start();
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    clock.advance(limits.reconnectMaxMs);
  }
  link.stop();
  assert.equal(lines.length, 1);
  assert.doesNotMatch(lines.join(), /canary/);
});

Deno.test("ship events: too many before anybody listens end the connection", () => {
  let take: (text: string) => void = () => {};
  const socket = new KeptSocket();
  socket.onText = ((handler: (text: string) => void) => void (take = handler)) as () => void;
  const events = new ShipEvents(socket);
  const frame = { ship: "alpha", at: new Date().toISOString(), workspaces: [] };
  for (let count = 0; count < 1030; count += 1) take(JSON.stringify({ type: "sync", ...frame }));
  assert.equal(socket.terminated, true);
  let why = "";
  events.listen({ event() {}, closed: (text) => void (why = text) });
  assert.match(why, /too many events/);
});
