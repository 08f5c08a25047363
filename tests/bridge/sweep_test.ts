/** The cleanup pass (interface, bridge behaviour 14), against the test forge and scripted ships. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ManualClock } from "../../shared/clock.ts";
import { fail, relayed } from "../../shared/errors.ts";
import { failureResponse } from "../../shared/http/answer.ts";
import { silentLog } from "../../shared/log.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import type { EphemeralWorkspace } from "../../shared/schema/ephemeral.ts";
import { blockedBy, stepOf } from "../../bridge/ephemeral/plan.ts";
import { FleetRig, type RigOptions } from "../support/fleet_rig.ts";
import { TestForge } from "../support/forge/forge.ts";
import { until } from "../support/listen_support.ts";
import { row, ShipDouble } from "../support/ship_double.ts";

const record = (name: string, more: Partial<EphemeralWorkspace> = {}): EphemeralWorkspace => ({
  repoName: parseIdentifier("repo", "web"),
  name: parseIdentifier("workspace", name),
  ship: parseIdentifier("ship", "alpha"),
  issueNumber: 1,
  branch: name,
  cleanup: "watching",
  blockedReason: null,
  blockedAt: null,
  pullRequest: null,
  ...more,
});
const nothing = { checked: 0, destroyed: 0, blocked: 0, skipped: 0, forgotten: 0 };

interface Bench extends AsyncDisposable {
  readonly forge: TestForge;
  readonly alpha: ShipDouble;
  readonly rig: FleetRig;
  sweep(): Promise<unknown>;
}

/** Ship alpha with the workspaces `names`, an ephemeral record of each. */
async function bench(names: readonly string[], options: RigOptions = {}): Promise<Bench> {
  const forge = await TestForge.start();
  const alpha = await ShipDouble.start("alpha", names.map((name) => `web/${name}`));
  const rig = await FleetRig.start({ github: forge.github, ...options });
  await rig.register(alpha);
  await rig.repo("web", forge.cloneUrl, "github");
  for (const name of names) await rig.ephemeral.add(record(name));
  return {
    forge,
    alpha,
    rig,
    async sweep() {
      const { status, body } = await rig.ask("POST", "/workspaces/sweep");
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await alpha[Symbol.asyncDispose]();
      await forge[Symbol.asyncDispose]();
    },
  };
}

const deletes = (alpha: ShipDouble) =>
  alpha.asked.filter(({ method }) => method === "DELETE").map(({ target }) => target);

Deno.test("sweep: merged and closed go with force=false; open and none stay, and are shown", async () => {
  await using b = await bench(["merged", "closed", "open", "none"]);
  b.forge.state.close(b.forge.state.openPull("merged"), true);
  b.forge.state.close(b.forge.state.openPull("closed"), false);
  const open = b.forge.state.openPull("open");
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 4, destroyed: 2 });
  assert.deepEqual(deletes(b.alpha).sort(), [
    "/workspaces/web/closed?force=false",
    "/workspaces/web/merged?force=false",
  ]);
  assert.deepEqual(b.rig.ephemeral.all.map(({ name }) => name as string).sort(), ["none", "open"]);
  const { body } = await b.rig.ask("GET", "/workspaces/web/open");
  assert.deepEqual(body.ephemeral.pullRequest.state, "open");
  assert.equal(body.ephemeral.pullRequest.number, open.number);
  assert.equal((await b.rig.ask("GET", "/workspaces/web/none")).body.ephemeral.pullRequest, null);
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 2 });
  b.forge.assertFaultless();
});

Deno.test("sweep: the newest pull request decides", async () => {
  await using b = await bench(["w"]);
  b.forge.state.close(b.forge.state.openPull("w"), true);
  b.forge.state.openPull("w");
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1 });
});

Deno.test("sweep: refused work is blocked, tried again, and goes when it is pushed", async () => {
  await using b = await bench(["w"]);
  const { state } = b.forge;
  state.close(state.openPull("w"), true);
  const found = "x".repeat(300);
  const refusal = fail("holdsWork", { ...record("w"), found });
  b.alpha.script.deleteWorkspace = () => failureResponse(refusal, silentLog);
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1, blocked: 1 });
  const { ephemeral } = (await b.rig.ask("GET", "/workspaces/web/w")).body;
  assert.equal(ephemeral.cleanup, "blocked");
  assert.equal(ephemeral.blockedReason, refusal.message.slice(0, 200));
  assert.match(ephemeral.blockedAt, /^\d{4}-.*Z$/);
  assert.equal(ephemeral.pullRequest.state, "merged");
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1, blocked: 1 });
  assert.equal(b.rig.ephemeral.all[0]?.blockedAt, ephemeral.blockedAt, "blocked since then");
  delete b.alpha.script.deleteWorkspace;
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1, destroyed: 1 });
  assert.deepEqual(b.rig.ephemeral.all, []);
});

Deno.test("sweep: a blocked record is watching again when the pull request was reopened", async () => {
  await using b = await bench(["w"]);
  const { state } = b.forge;
  const pull = state.openPull("w");
  state.close(pull, false);
  b.alpha.script.deleteWorkspace = () =>
    failureResponse(fail("holdsWork", { ...record("w"), found: "a stash" }), silentLog);
  await b.sweep();
  assert.equal(b.rig.ephemeral.all[0]?.cleanup, "blocked");
  pull.state = "open";
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1 });
  const [back] = b.rig.ephemeral.all;
  assert.deepEqual([back?.cleanup, back?.blockedReason, back?.blockedAt], ["watching", null, null]);
});

Deno.test("sweep: a ship that is busy or fails otherwise is asked again later, not blocked", async () => {
  await using b = await bench(["w"]);
  b.forge.state.close(b.forge.state.openPull("w"), true);
  b.alpha.script.deleteWorkspace = () =>
    failureResponse(fail("workspaceBusy", { ...record("w"), doing: "switch" }), silentLog);
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1, skipped: 1 });
  b.alpha.script.deleteWorkspace = () => failureResponse(relayed(500, "oops"), silentLog);
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1, skipped: 1 });
  assert.equal(b.rig.ephemeral.all[0]?.cleanup, "watching");
  assert.equal(b.rig.ephemeral.all[0]?.pullRequest?.state, "merged");
});

Deno.test("sweep: offline ships and a forge without answer are skipped; both are tried again", async () => {
  await using b = await bench(["w"]);
  b.forge.override = () => Response.json({ message: "down" }, { status: 404 });
  assert.deepEqual(await b.sweep(), { ...nothing, skipped: 1 });
  b.forge.override = null;
  b.alpha.cut();
  await b.rig.becomes("alpha", "offline");
  assert.deepEqual(await b.sweep(), { ...nothing, skipped: 1 });
  assert.equal(b.rig.ephemeral.all.length, 1);
  b.alpha.mend();
  await b.rig.becomes("alpha", "online");
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1 });
  await b.rig.ask("DELETE", "/repos/web");
  assert.deepEqual(await b.sweep(), { ...nothing, skipped: 1 }, "no repo, no forge to ask");
});

Deno.test("sweep: what is gone from an online ship is forgotten; the file too", async () => {
  await using b = await bench(["w", "stays"]);
  b.alpha.workspaces.delete("web/w");
  b.alpha.sync();
  await until("the index knows", () => b.rig.fleet.ownership.ownerOf(record("w")) === null);
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1, forgotten: 1 });
  const text = await Deno.readTextFile(join(b.rig.directory, "ephemeral.json"));
  assert.deepEqual(JSON.parse(text).workspaces.map((one: { name: string }) => one.name), ["stays"]);
});

Deno.test("sweep: a name that another ship owns is not touched", async () => {
  await using b = await bench([]);
  await using beta = await ShipDouble.start("beta", ["web/w"]);
  await b.rig.register(beta);
  await b.rig.ephemeral.add(record("w"));
  b.alpha.workspaces.set("web/w", row("web/w"));
  b.forge.state.close(b.forge.state.openPull("w"), true);
  assert.deepEqual(await b.sweep(), { ...nothing, skipped: 1 });
  assert.deepEqual(deletes(beta), []);
  b.alpha.workspaces.delete("web/w");
  assert.deepEqual(await b.sweep(), { ...nothing, forgotten: 1 });
});

Deno.test("sweep: passes never overlap, a second caller gets the first's result", async () => {
  await using b = await bench(["w"]);
  b.forge.state.close(b.forge.state.openPull("w"), true);
  const [first, second] = await Promise.all([b.sweep(), b.sweep()]);
  assert.deepEqual(first, { ...nothing, checked: 1, destroyed: 1 });
  assert.deepEqual(second, first);
  assert.equal(deletes(b.alpha).length, 1);
});

Deno.test("sweep: the timer sweeps, interval after interval, until the end", async () => {
  const clock = new ManualClock();
  await using b = await bench(["w"], { clock, sweepIntervalMs: 300_000 });
  b.forge.state.openPull("w");
  const passes = () => b.forge.requests.length;
  clock.advance(299_000);
  assert.equal(passes(), 0);
  clock.advance(1_000);
  await until("first pass", () => passes() === 1 && b.rig.ephemeral.all[0]?.pullRequest !== null);
  await until("second pass", () => {
    clock.advance(300_000);
    return passes() >= 2;
  });
});

Deno.test("sweep: a record made anew while it was judged is left alone", async () => {
  await using b = await bench(["w"]);
  b.forge.state.close(b.forge.state.openPull("w"), true);
  b.forge.override = async () => {
    await b.rig.ephemeral.add(record("w", { branch: "other" }));
    return null as unknown as Response;
  };
  assert.deepEqual(await b.sweep(), { ...nothing, checked: 1, skipped: 1 });
  assert.deepEqual(deletes(b.alpha), []);
});

Deno.test("plan: reasons are cut without half a character", () => {
  const emoji = `${"x".repeat(199)}\u{1f600}tail`;
  const blocked = blockedBy(record("w"), emoji, "2026-01-01T00:00:00.000Z");
  assert.equal(blocked.blockedReason, "x".repeat(199));
  assert.equal(stepOf(blocked, null).record.cleanup, "watching");
});
