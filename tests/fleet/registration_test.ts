import assert from "node:assert/strict";
import { isLinkLocal } from "../../shared/address_policy.ts";
import { ManualClock } from "../../shared/clock.ts";
import type { ShipName } from "../../shared/ids.ts";
import { listen } from "../../shared/host/listen.ts";
import { limits } from "../../shared/limits.ts";
import { assertFails, FleetRig } from "../support/fleet_rig.ts";
import { until } from "../support/listen_support.ts";
import { row, ShipDouble } from "../support/ship_double.ts";

Deno.test("register: the ship names itself, its workspaces are claimed, its connection is kept", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/w"]);
  await using rig = await FleetRig.start();
  assert.deepEqual((await rig.ask("GET", "/ships")).body, []);
  const answer = await rig.ask("POST", "/ships", { url: `${ship.url}/` });
  assert.deepEqual(answer, {
    status: 201,
    body: { name: "alpha", url: ship.url, status: "online" },
  });
  assert.deepEqual((await rig.ask("GET", "/ships")).body, [answer.body]);
  assert.equal(rig.fleet.ownership.ownerOf(row("r/w")), "alpha");
  assert.equal(ship.asked.length, 1, "the connection that probed is the one that stays");
  assert.equal(ship.sockets.size, 1);
});

Deno.test("register: both tokens are kept, and the bridge's is presented with every call", async () => {
  await using ship = await ShipDouble.start("alpha", ["r/w"]);
  await using rig = await FleetRig.start();
  await rig.register(ship, { bridgeToken: "b-token", shipToken: "s-token" });
  await rig.ask("GET", "/workspaces/r/w");
  ship.cut();
  await rig.becomes(ship, "offline");
  ship.mend();
  await rig.becomes(ship, "online");
  assert.deepEqual(
    new Set(ship.asked.map(({ authorization }) => authorization)),
    new Set([
      "Bearer b-token",
    ]),
  );
  await rig.ask("DELETE", "/ships/alpha");
  assert.equal(await rig.credentials.bridgeToken(ship.name), null);
});

Deno.test("[oneTokenOnly] register: one token alone is refused before anything is opened", async () => {
  await using ship = await ShipDouble.start("alpha");
  await using rig = await FleetRig.start();
  for (const one of [{ bridgeToken: "t" }, { shipToken: "t" }]) {
    const answer = await rig.ask("POST", "/ships", { url: ship.url, ...one });
    assertFails(answer, 400, "register both bridgeToken and shipToken, or neither");
  }
  assert.equal(ship.asked.length, 0);
});

Deno.test("[validation] register: a missing or unfit url is zod's 422", async () => {
  await using rig = await FleetRig.start();
  const unfit = ["ftp://h", "file:///etc/passwd", "http://u:p@h", "http://h/?q", "http://h#f", "x"];
  for (const body of [{}, { url: 5 }, ...unfit.map((url) => ({ url }))]) {
    const answer = await rig.ask("POST", "/ships", body);
    assert.equal(answer.status, 422, JSON.stringify(body));
    assert.equal(answer.body.error.name, "ZodError");
  }
});

Deno.test("[shipAlreadyRegistered] register: a name is taken once, also in parallel", async () => {
  await using ship = await ShipDouble.start("alpha");
  await using rig = await FleetRig.start();
  const answers = await Promise.all(
    [1, 2, 3].map(() => rig.ask("POST", "/ships", { url: ship.url })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
  const refused = answers.find(({ status }) => status === 409);
  assertFails(refused!, 409, "ship already registered: alpha");
  await until("the refused connections are closed", () => ship.sockets.size === 1);
  assert.equal(rig.status(ship), "online");
});

Deno.test("[shipWorkspacesHostedElsewhere] register: a ship with another's workspaces is refused", async () => {
  await using first = await ShipDouble.start("alpha", ["r/a", "r/b", "r/c"]);
  await using second = await ShipDouble.start("beta", ["r/c", "r/a", "r/own"]);
  await using rig = await FleetRig.start();
  await rig.register(first);
  const answer = await rig.ask("POST", "/ships", { url: second.url });
  assertFails(answer, 409, 'ship "beta" has workspaces already hosted elsewhere: r/a, r/c');
  assert.equal(rig.fleet.ownership.ownerOf(row("r/own")), null);
  await until("its connection is closed", () => second.sockets.size === 0);
});

Deno.test("[shipDidNotRespond] register: nobody there, no ship there, or another answer", async () => {
  await using rig = await FleetRig.start();
  const nobody = await rig.ask("POST", "/ships", { url: "http://127.0.0.1:1" });
  assert.equal(nobody.status, 502);
  assert.match(nobody.body.error, /^ship at http:\/\/127\.0\.0\.1:1 did not respond: /);

  const page = await listen({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("canary of another server", { status: 404 }),
  });
  const stranger = await rig.ask("POST", "/ships", { url: page.url });
  await page.shutdown();
  assert.equal(stranger.status, 502);
  assert.doesNotMatch(stranger.body.error, /canary/);

  await using bad = await ShipDouble.start("alpha");
  bad.name = "no/identifier" as ShipName;
  const invalid = await rig.ask("POST", "/ships", { url: bad.url });
  assertFails(
    invalid,
    502,
    `ship at ${bad.url} did not respond: it sent a frame that is no fleet event`,
  );
  assert.deepEqual((await rig.ask("GET", "/ships")).body, []);
});

Deno.test("[shipDidNotRespond] register: a ship that stays silent is given up after 5000 ms", async () => {
  await using ship = await ShipDouble.start("alpha");
  ship.greets = false;
  const clock = new ManualClock();
  await using rig = await FleetRig.start({ clock });
  const answer = rig.ask("POST", "/ships", { url: ship.url });
  await until("the probe is open", () => ship.sockets.size === 1);
  clock.advance(limits.probeMs);
  assertFails(
    await answer,
    502,
    `ship at ${ship.url} did not respond: no sync event within 5000 ms`,
  );
  await until("the probe is closed", () => ship.sockets.size === 0);
});

Deno.test("register: redirects are not followed", async () => {
  await using ship = await ShipDouble.start("alpha");
  await using rig = await FleetRig.start();
  const page = await listen({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.redirect(`${ship.url}/events`, 302),
  });
  const answer = await rig.ask("POST", "/ships", { url: page.url });
  await page.shutdown();
  assert.equal(answer.status, 502);
  assert.equal(ship.asked.length, 0);
});

Deno.test("[shipUrlRefused] register: link-local addresses are refused, by name too", async () => {
  await using rig = await FleetRig.start({ resolve: () => Promise.resolve(["169.254.169.254"]) });
  const urls = [
    "http://169.254.169.254",
    "http://[fe80::1]:4700",
    "http://[::ffff:169.254.1.1]/",
    "http://0xa9fea9fe/",
    "http://metadata.internal",
  ];
  for (const url of urls) {
    const answer = await rig.ask("POST", "/ships", { url });
    assert.equal(answer.status, 400, url);
    assert.match(answer.body.error, /^ship url refused: link-local/);
  }
  assert.equal(isLinkLocal("10.0.0.1"), false);
  assert.equal(isLinkLocal("fec0::1"), false);
  assert.equal(isLinkLocal("febf::1"), true);
});

Deno.test("[shipNotFound] [invalidShipIdentifier] remove: an unknown ship, and no name at all", async () => {
  await using rig = await FleetRig.start();
  assertFails(await rig.ask("DELETE", "/ships/nobody"), 404, "ship not found: nobody");
  assert.deepEqual(await rig.ask("DELETE", "/ships/a%2Fb"), {
    status: 400,
    body: { error: "invalid ship identifier", reason: "must not contain path separators" },
  });
});

Deno.test("remove: the connection closes, workspaces go to another claimant or are not found", async () => {
  await using first = await ShipDouble.start("alpha", ["r/only"]);
  await using second = await ShipDouble.start("beta");
  await using rig = await FleetRig.start();
  await rig.register(first);
  await rig.register(second);
  first.emit("workspace.created", row("r/both"));
  await until("alpha owns it", () => rig.fleet.ownership.ownerOf(row("r/both")) === first.name);
  second.workspaces.set("r/both", row("r/both"));
  second.emit("workspace.created", row("r/both"));
  assert.deepEqual(await rig.ask("GET", "/workspaces"), await rig.ask("GET", "/workspaces"));
  assert.deepEqual(await rig.ask("DELETE", "/ships/alpha"), { status: 200, body: { ok: true } });
  assert.equal((await rig.ask("GET", "/workspaces/r/both")).body.ship, "beta");
  assertFails(await rig.ask("GET", "/workspaces/r/only"), 404, "workspace not found: r/only");
  await until("the connection is closed", () => first.sockets.size === 0);
  await rig.register(first);
});
