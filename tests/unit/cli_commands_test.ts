import assert from "node:assert/strict";
import { z } from "zod";
import { bridgeEventSchema } from "../../shared/schema/event.ts";
import { repoBranchSchema, repoSchema } from "../../shared/schema/repo.ts";
import { shipInfoSchema } from "../../shared/schema/ship.ts";
import {
  bridgeWorkspaceStatusSchema,
  bridgeWorkspaceSummarySchema,
} from "../../shared/schema/workspace.ts";
import { freePort } from "../../shared/host/ports.ts";
import { cli, type CliRun, type CliRunOptions } from "../support/cli_support.ts";
import { ScriptedBridge } from "../support/scripted_bridge.ts";

type Grid = (line: string, options?: CliRunOptions) => Promise<CliRun>;

/** A bridge with two ships, one repo and three workspaces, and `grid` aimed at it. */
async function withBridge(
  test: (bridge: ScriptedBridge, grid: Grid, url: string) => Promise<void>,
): Promise<void> {
  const bridge = new ScriptedBridge();
  bridge.addShip("aurora");
  bridge.addShip("borealis", "offline");
  bridge.addWorkspace("web/fix", { active: true });
  bridge.addWorkspace("web/docs");
  bridge.addWorkspace("api/docs");
  await using server = await bridge.serve();
  await test(
    bridge,
    (line, options) => cli(line.split(" "), { url: server.url, ...options }),
    server.url,
  );
}

const agent = {
  state: "awaiting",
  description: "May I?",
  model: "m",
  provider: "p",
  harness: "h",
} as const;

Deno.test("cli status: bridge, access, ships, hosts", () =>
  withBridge(async (_, grid, url) => {
    const { out, code } = await grid("status");
    assert.equal(code, 0);
    for (const part of [url, "insecure", "2, 1 online", "3, 1 active", "2.0 GiB of 8.0 GiB"]) {
      assert.ok(out.includes(part), `${part} in ${out}`);
    }
    assert.match(out, /borealis +offline +0 .*ship "borealis" is offline/);
    const value = JSON.parse((await grid("status --json")).out);
    assert.deepEqual(value.workspaces, { total: 3, active: 1 });
    z.array(shipInfoSchema).parse(value.ships);
  }));

Deno.test("cli ls: filters, agents, JSON by schema", () =>
  withBridge(async (bridge, grid) => {
    bridge.addWorkspace("web/fix", { active: true, agent });
    const { out } = await grid("ls");
    assert.match(out, /^WORKSPACE +BRANCH +SHIP +SESSION +AGENT +DOING\n/);
    assert.match(out, /web\/fix +fix +aurora +active +awaiting +May I\?/);
    assert.doesNotMatch((await grid("ls --active")).out, /docs/);
    assert.doesNotMatch((await grid("ls --inactive")).out, /fix/);
    assert.equal((await grid("ls --active --inactive")).code, 2);
    const json = JSON.parse((await grid("ls --json")).out);
    assert.equal(z.array(bridgeWorkspaceSummarySchema).parse(json).length, 3);
    bridge.workspaces.clear();
    assert.match((await grid("ls")).out, /grid new/);
    assert.equal((await grid("ls --json")).out, "[]\n");
  }));

Deno.test("cli show: a key, a unique name, and names that are not", () =>
  withBridge(async (_, grid) => {
    for (const line of ["show web/fix", "show fix"]) {
      assert.match((await grid(line)).out, /changes +\+3 -1, 2 commits not pushed/);
    }
    assert.match((await grid("show web/docs")).out, /session +none/);
    bridgeWorkspaceStatusSchema.parse(JSON.parse((await grid("show fix --json")).out));
    const twice = await grid("show docs");
    assert.equal(twice.code, 1);
    assert.match(twice.err, /say which of web\/docs, api\/docs/);
    assert.match((await grid("show fxi")).err, /did you mean web\/fix\?/);
    assert.match((await grid("show web/no")).err, /workspace not found: web\/no; `grid ls`/);
    assert.equal((await grid("show a/b/c")).code, 2);
    const invalid = await grid("show web/..");
    assert.equal(invalid.code, 2);
    assert.match(invalid.err, /invalid workspace identifier: it must not be \. or \.\./);
  }));

Deno.test("cli ship: ls, add, rm", () =>
  withBridge(async (bridge, grid) => {
    assert.match((await grid("ship ls")).out, /aurora +online/);
    z.array(shipInfoSchema).parse(JSON.parse((await grid("ship ls --json")).out));
    assert.equal((await grid("ship rm borealis")).code, 0);
    assert.deepEqual(bridge.ships.map(({ name }) => name), ["aurora"]);
    assert.match((await grid("ship rm borealis")).err, /ship not found: borealis; `grid ship ls`/);
    assert.equal((await grid("ship add ftp://x")).code, 2);
    const silent = await grid(`ship add http://127.0.0.1:${freePort("127.0.0.1")}`);
    assert.equal(silent.code, 1);
    assert.match(silent.err, /did not respond/);
    const ship = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response("corona"),
    );
    const added = await grid(`ship add http://127.0.0.1:${ship.addr.port}/`);
    await ship.shutdown();
    assert.match(added.out, /corona +online[^]*--ship corona/);
  }));

Deno.test("cli repo: add, ls without the credential of its URL, branches, rm", () =>
  withBridge(async (_, grid) => {
    const secret = "https://me:hunter2@example.com/web.git";
    assert.match((await grid(`repo add web ${secret} --provider github`)).out, /grid new web/);
    const listed = await grid("repo ls");
    assert.match(listed.out, /web +github +https:\/\/example\.com\/web\.git/);
    assert.ok(!listed.out.includes("hunter2"));
    z.array(repoSchema).parse(JSON.parse((await grid("repo ls --json")).out));
    assert.match((await grid(`repo add web ${secret}`)).err, /repo already registered: web/);
    assert.match((await grid("repo branches web")).out, /0123456789 +main/);
    z.array(repoBranchSchema).parse(JSON.parse((await grid("repo branches web --json")).out));
    assert.equal((await grid("repo rm web")).code, 0);
    assert.equal((await grid("repo rm web")).code, 1);
  }));

Deno.test("cli new: the only online ship, the name as branch, progress on a terminal", () =>
  withBridge(async (bridge, grid) => {
    const made = await grid("new web login", { terminal: true });
    assert.equal(made.code, 0, made.err);
    assert.match(made.out, /created web\/login on aurora, branch login\nnext: grid activate/);
    assert.match(made.err, /Receiving objects .* 50 %/);
    const piped = await grid("new web b --branch main --ship borealis --json");
    assert.equal(piped.err, "");
    const summary = bridgeWorkspaceSummarySchema.parse(JSON.parse(piped.out));
    assert.deepEqual([summary.ship, summary.branch], ["borealis", "main"]);
    assert.match((await grid("new web login")).err, /workspace already exists: web\/login/);
    bridge.plainCreate = true;
    assert.equal((await grid("new web plain")).code, 0);
    bridge.addShip("corona");
    const which = await grid("new web more");
    assert.equal(which.code, 1);
    assert.match(which.err, /2 ships are online \(aurora, corona\): say which with --ship/);
    bridge.ships.length = 0;
    assert.match((await grid("new web more")).err, /no ship is registered/);
  }));

Deno.test("cli diff: flags reach the bridge; raw in a pipe, escaped on a terminal", () =>
  withBridge(async (bridge, grid) => {
    bridge.diff = "+evil\x1b[2J\n";
    const piped = await grid("diff web/fix --stat --untracked --range a..b -- src lib");
    assert.equal(piped.out, bridge.diff);
    assert.equal(
      bridge.seen.at(-1),
      "GET /workspaces/web/fix/diff?stat=true&range=a..b&includeUntracked=true&paths=src&paths=lib",
    );
    const shown = await grid("diff web/fix", { terminal: true });
    assert.equal(shown.out, "\x1b[32m+evil\\u001b[2J\x1b[0m\n");
    assert.equal(
      (await grid("diff web/fix --no-color", { terminal: true })).out,
      "+evil\\u001b[2J\n",
    );
    assert.equal(JSON.parse((await grid("diff web/fix --json")).out).diff, bridge.diff);
    assert.equal((await grid("diff web/fix --staged --range a..b")).code, 2);
    bridge.diff = "";
    assert.equal((await grid("diff web/fix", { terminal: true })).out, "no changes\n");
  }));

Deno.test("cli activate, deactivate, switch", () =>
  withBridge(async (bridge, grid) => {
    assert.equal((await grid("activate web/docs")).out, "web/docs is active\n");
    assert.match((await grid("activate web/docs")).err, /workspace already active/);
    assert.deepEqual(JSON.parse((await grid("deactivate web/docs --json")).out), { ok: true });
    const refused = await grid("deactivate web/docs --json");
    assert.equal(refused.code, 1);
    assert.equal(JSON.parse(refused.err).error.status, 400);
    assert.equal((await grid("switch fix main")).out, "web/fix is on main\n");
    assert.equal(bridge.workspaces.get("web/fix")?.branch, "main");
  }));

Deno.test("cli rm: says what is lost and asks; without a terminal it wants --yes", () =>
  withBridge(async (bridge, grid) => {
    const blind = await grid("rm web/fix");
    assert.equal(blind.code, 2);
    assert.match(blind.err, /--yes/);
    const no = await grid("rm web/fix", { terminal: true, answer: "n" });
    assert.equal(no.code, 1);
    assert.match(no.asked[0] ?? "", /changes not committed \(\+3 -1\), 2 commits not pushed/);
    assert.ok(bridge.workspaces.has("web/fix"));
    assert.equal((await grid("rm web/fix", { terminal: true, answer: "y" })).code, 0);
    assert.equal((await grid("rm web/docs --yes")).out, "deleted web/docs\n");
    assert.deepEqual([...bridge.workspaces.keys()], ["api/docs"]);
  }));

Deno.test("cli events: a line each, NDJSON by schema, ends at the limit", () =>
  withBridge(async (bridge, grid) => {
    const fix = bridge.workspaces.get("web/fix")!;
    const onOut = (text: string) => {
      if (text.includes("sync")) {
        bridge.publish("workspace.agent_status_changed", { ...fix, agent });
        bridge.publish("workspace.branch_changed", fix);
        bridge.publish("workspace.removed", fix);
      }
    };
    const { out, code } = await grid("events --limit 3", { onOut });
    assert.equal(code, 0);
    const lines = out.trimEnd().split("\n");
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? "", /sync +3 workspaces, 1 active$/);
    assert.match(lines[1] ?? "", /agent +web\/fix awaiting: May I\?$/);
    assert.match(lines[2] ?? "", /branch changed +web\/fix to fix$/);
    const json = (await grid("events --limit 2 --json", { onOut })).out.trimEnd().split("\n");
    for (const line of json) bridgeEventSchema.parse(JSON.parse(line));
    assert.equal((await grid("events --limit 0")).code, 2);
  }));

Deno.test("cli events: connects again when the bridge comes back, ends on stop", async () => {
  const port = freePort("127.0.0.1");
  const stop = new AbortController();
  let syncs = 0;
  let first: AsyncDisposable | null = await new ScriptedBridge().serve(port);
  const lost = Promise.withResolvers<void>();
  const run = cli(["events"], {
    url: `http://127.0.0.1:${port}`,
    stop: stop.signal,
    onOut() {
      if (++syncs === 2) stop.abort();
      else void first?.[Symbol.asyncDispose]().then(() => first = null);
    },
    onErr: () => lost.resolve(),
  });
  await lost.promise;
  while (first !== null) await new Promise((resolve) => setTimeout(resolve, 20));
  await using _second = await new ScriptedBridge().serve(port);
  const { code, out, err } = await run;
  assert.equal(code, 0);
  assert.equal(out.match(/sync/g)?.length, 2);
  assert.equal(err, "connection lost: trying again until Ctrl-C\nconnected again\n");
});

Deno.test("cli: a token goes along, a ticket opens the events of a bridge with sign-in", () =>
  withBridge(async (bridge, grid, bridgeUrl) => {
    bridge.authRequired = true;
    const { code } = await grid("events --limit 1", { settings: { bridgeUrl, token: "s3cret" } });
    assert.equal(code, 0);
    assert.ok(bridge.authorizations.includes("Bearer s3cret"));
    assert.ok(bridge.seen.includes("GET /events?ticket=t1"));
  }));

Deno.test("cli: nobody there, a wrong URL, and something that is no bridge", async () => {
  const url = `http://127.0.0.1:${freePort("127.0.0.1")}`;
  const nobody = await cli(["ls"], { url });
  assert.equal(nobody.code, 1);
  assert.match(
    nobody.err,
    /^grid: no bridge at http:\/\/127.* start one with `grid up`, or give --url\n$/,
  );
  const json = await cli(["ls", "--json"], { url });
  assert.match(JSON.parse(json.err).error.message, /no bridge/);
  assert.equal((await cli(["ls", "--url", "nonsense"])).code, 2);
  const other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("hello"),
  );
  const strange = await cli(["ls"], { url: `http://127.0.0.1:${other.addr.port}` });
  await other.shutdown();
  assert.match(strange.err, /is it a bridge, and of this version\?/);
});

Deno.test("cli: Ctrl-C ends a call that hangs, exit code 130 and no words", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  const slow = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    asked.resolve();
    return answer.promise;
  });
  const stop = new AbortController();
  const run = cli(["ls"], { url: `http://127.0.0.1:${slow.addr.port}`, stop: stop.signal });
  await asked.promise;
  stop.abort();
  assert.deepEqual(await run, { code: 130, out: "", err: "", asked: [] });
  answer.resolve(new Response());
  await slow.shutdown();
});
