import assert from "node:assert/strict";
import type { ShipName } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import { assertFails, FleetRig } from "../support/fleet_rig.ts";
import { until } from "../support/listen_support.ts";
import { figures, row, ShipDouble } from "../support/ship_double.ts";

async function fleet(...ships: ShipDouble[]): Promise<FleetRig> {
  const rig = await FleetRig.start();
  for (const ship of ships) await rig.register(ship);
  return rig;
}

Deno.test("routing: status, switch, start, stop and delete reach the owner and gain its name", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using beta = await ShipDouble.start("beta", ["r/b"]);
  await using rig = await fleet(alpha, beta);
  const ok = { status: 200, body: { ok: true } };
  assert.deepEqual((await rig.ask("GET", "/workspaces/r/b")).body, {
    state: "inactive",
    repoName: "r",
    name: "b",
    branch: "main",
    ship: "beta",
    ephemeral: null,
  });
  assert.deepEqual(await rig.ask("POST", "/workspaces/r/b/branch", { branch: "x" }), ok);
  assert.deepEqual(await rig.ask("POST", "/workspaces/r/b/activate"), ok);
  assert.equal(beta.workspaces.get("r/b")?.active, true);
  assert.equal(beta.workspaces.get("r/b")?.branch, "x");
  assert.deepEqual(await rig.ask("POST", "/workspaces/r/b/deactivate"), ok);
  assert.deepEqual(await rig.ask("DELETE", "/workspaces/r/b?force=false"), ok);
  const deletion = beta.asked.find(({ method }) => method === "DELETE");
  assert.equal(deletion?.target, "/workspaces/r/b");
  assertFails(await rig.ask("GET", "/workspaces/r/b"), 404, "workspace not found: r/b");
  assert.ok(alpha.asked.every(({ target }) => target === "/events"));
});

Deno.test("routing: the cleanup's delete asks with force=false", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  await rig.forward.remove(row("r/a"), { keepWork: true });
  assert.equal(alpha.asked.at(-1)?.target, "/workspaces/r/a?force=false");
});

Deno.test("[workspaceNotFound] routing: nobody holds it", async () => {
  await using rig = await FleetRig.start();
  for (const [method, path] of [["GET", ""], ["GET", "/diff"], ["POST", "/activate"]] as const) {
    const answer = await rig.ask(method, `/workspaces/r/none${path}`);
    assertFails(answer, 404, "workspace not found: r/none");
  }
});

Deno.test("[invalidRepoIdentifier] [invalidWorkspaceIdentifier] routing: names in paths", async () => {
  await using rig = await FleetRig.start();
  assertFails(await rig.ask("GET", "/workspaces/a%00b/w"), 400, "invalid repo identifier");
  assertFails(await rig.ask("GET", "/workspaces/r/a%5Cb"), 400, "invalid workspace identifier");
});

Deno.test("[hostOffline] [shipOffline] routing: nothing is asked of a ship that is offline", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  await rig.repo("r");
  alpha.cut();
  await rig.becomes(alpha, "offline");
  const offline = 'ship "alpha" hosting r/a is offline';
  for (const path of ["", "/diff"]) {
    assertFails(await rig.ask("GET", `/workspaces/r/a${path}`), 503, offline);
  }
  assertFails(await rig.ask("DELETE", "/workspaces/r/a"), 503, offline);
  const figuresAnswer = await rig.ask("GET", "/ships/alpha/system-resources");
  assertFails(figuresAnswer, 503, 'ship "alpha" is offline');
  const create = { ship: "alpha", repoName: "r", name: "n", branch: "b" };
  assertFails(await rig.ask("POST", "/workspaces", create), 503, 'ship "alpha" is offline');
  assert.deepEqual(
    (await rig.ask("GET", "/workspaces")).body.map(({ name }: { name: string }) => name),
    ["a"],
    "the last known rows are listed",
  );
});

Deno.test("[shipUnreachable] routing: a call that breaks turns the ship offline, and it reconnects", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  const generation = rig.fleet.link(alpha.name)?.generation ?? 0;
  alpha.script.getWorkspace = () => {
    alpha.cut();
    return alpha.hang();
  };
  const answer = await rig.ask("GET", "/workspaces/r/a");
  assert.equal(answer.status, 503);
  assert.match(answer.body.error, /^ship "alpha" unreachable: ./);
  assert.doesNotMatch(answer.body.error, /127\.0\.0\.1/);
  assert.equal(rig.status(alpha), "offline");
  delete alpha.script.getWorkspace;
  alpha.mend();
  await rig.becomes(alpha, "online");
  assert.ok((rig.fleet.link(alpha.name)?.generation ?? 0) > generation);
  assert.equal((await rig.ask("GET", "/workspaces/r/a")).status, 200);
});

Deno.test("[passedThrough] routing: the ship's errors keep status, message, reason and a 422 its form", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  for (const status of [400, 401, 404, 409, 418, 500, 503]) {
    const body = { error: `said ${status}`, reason: "because" };
    alpha.script.activateWorkspace = () => Response.json(body, { status });
    assert.deepEqual(await rig.ask("POST", "/workspaces/r/a/activate"), { status, body });
  }
  const zod = { success: false, error: { name: "ZodError", issues: [{ path: ["x"], code: "c" }] } };
  alpha.script.activateWorkspace = () => Response.json(zod, { status: 422 });
  assert.deepEqual(await rig.ask("POST", "/workspaces/r/a/activate"), { status: 422, body: zod });
  assert.equal(rig.status(alpha), "online");
});

Deno.test("[shipAnswerInvalid] routing: no data, other data, another workspace, a redirect", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  const given = { state: "inactive", repoName: "r", name: "a", branch: "main" };
  const active = {
    ...given,
    state: "active",
    diff: { added: 0, removed: 0, commits: 0 },
    agent: null,
    issue: null,
    mergeRequest: null,
    ship: "mallory",
  };
  const answers = [
    new Response("canary"),
    new Response(null, { status: 200 }),
    Response.json({ ...given, state: "other" }),
    Response.json({ ...given, name: "b" }),
    Response.json({ ...given, repoName: "q" }),
    Response.json(active),
    new Response("canary", { status: 302, headers: { location: alpha.url } }),
    new Response("canary", { status: 500 }),
  ];
  for (const answer of answers) {
    alpha.script.getWorkspace = () => answer;
    const { status, body } = await rig.ask("GET", "/workspaces/r/a");
    assert.equal(status, 502);
    assert.match(body.error, /^ship "alpha" answered with /);
    assert.doesNotMatch(body.error, /canary/);
  }
  assert.equal(rig.status(alpha), "online");
});

Deno.test("diff: the query reaches the ship unchanged and the text comes back as text", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  const query = "?paths=a%20b&paths=%C3%BC&range=HEAD~1..HEAD&other=1&staged";
  const response = await rig.open("GET", `/workspaces/r/a/diff${query}`);
  assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(await response.text(), "diff of a\n");
  assert.equal(alpha.asked.at(-1)?.target, `/workspaces/r/a/diff${query}`);
  alpha.script.diffWorkspace = () => Response.json({ error: "could not diff" }, { status: 400 });
  assertFails(await rig.ask("GET", "/workspaces/r/a/diff"), 400, "could not diff");
});

Deno.test("[validation] diff: a boolean that is none is zod's 422, and nothing is forwarded", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  assert.equal((await rig.ask("GET", "/workspaces/r/a/diff?stat=maybe")).status, 422);
  assert.equal(alpha.asked.length, 1);
});

Deno.test("diff: it streams, and the client's end is the ship's", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  let cancelled = false;
  alpha.script.diffWorkspace = () =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("first\n")),
        cancel: () => void (cancelled = true),
      }),
    );
  const gone = new AbortController();
  const response = await rig.open("GET", "/workspaces/r/a/diff", { signal: gone.signal });
  const reader = response.body!.getReader();
  const first = await reader.read();
  assert.equal(new TextDecoder().decode(first.value), "first\n");
  gone.abort();
  await assert.rejects(reader.read());
  await until("the ship's diff is cancelled", () => cancelled);
  assert.equal(rig.status(alpha), "online", "a client that leaves is no fault of the ship");
});

Deno.test("routing: a client that leaves a status read does not turn the ship offline", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using rig = await fleet(alpha);
  const release = Promise.withResolvers<Response>();
  alpha.script.getWorkspace = () => release.promise;
  const gone = new AbortController();
  const answer = rig.open("GET", "/workspaces/r/a", { signal: gone.signal });
  await until("the ship is asked", () => alpha.asked.some(({ target }) => target.endsWith("r/a")));
  gone.abort();
  assert.equal((await answer).status, 499);
  release.resolve(new Response(null));
  assert.equal(rig.status(alpha), "online");
});

Deno.test("list: every online ship is asked anew; active filters with true and false only", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using beta = await ShipDouble.start("beta", ["r/b"]);
  await using rig = await fleet(alpha, beta);
  alpha.workspaces.set("r/a", row("r/a", { active: true }));
  beta.workspaces.set("q/new", row("q/new"));
  const names = async (query: string) =>
    (await rig.ask("GET", `/workspaces${query}`)).body
      .map(({ repoName, name, ship }: Record<string, string>) => `${ship}:${repoName}/${name}`);
  const all = ["beta:q/new", "alpha:r/a", "beta:r/b"];
  assert.deepEqual(await names(""), all);
  assert.deepEqual(await names("?active=true"), ["alpha:r/a"]);
  assert.deepEqual(await names("?active=false"), ["beta:q/new", "beta:r/b"]);
  assert.deepEqual(await names("?active=perhaps"), all);
  beta.workspaces.delete("q/new");
  beta.script.listWorkspaces = () => Response.json({ error: "broken" }, { status: 500 });
  assert.deepEqual(await names(""), all, "an erroring ship's last rows are listed");
});

Deno.test("list: one hung ship is bounded by its own five seconds, the others answer", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/a"]);
  await using beta = await ShipDouble.start("beta", ["r/b"]);
  await using rig = await fleet(alpha, beta);
  beta.workspaces.set("r/new", row("r/new"));
  alpha.script.listWorkspaces = () => alpha.hang();
  const startMs = performance.now();
  const listed = rig.ask("GET", "/workspaces");
  assert.equal((await rig.ask("GET", "/workspaces/r/b")).status, 200);
  const { body } = await listed;
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs >= limits.shipListMs - 50 && tookMs < 3 * limits.shipListMs, `${tookMs} ms`);
  assert.deepEqual(body.map(({ name }: { name: string }) => name), ["a", "b", "new"]);
});

Deno.test("[unknownShip] resources: one ship's object is unchanged, an unknown ship is a 400", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  const more = { ...figures, extra: { field: 1 } };
  alpha.script.systemResources = () => Response.json(more);
  assert.deepEqual(await rig.ask("GET", "/ships/alpha/system-resources"), {
    status: 200,
    body: more,
  });
  assertFails(
    await rig.ask("GET", "/ships/nobody/system-resources"),
    400,
    "unknown ship: nobody",
  );
});

Deno.test("resources: the aggregate has figures, an error, or neither, ship by ship", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using beta = await ShipDouble.start("beta");
  await using gamma = await ShipDouble.start("gamma");
  await using rig = await fleet(gamma, beta, alpha);
  beta.script.systemResources = () => Response.json({ error: "no figures" }, { status: 500 });
  gamma.cut();
  await rig.becomes(gamma, "offline");
  assert.deepEqual((await rig.ask("GET", "/system-resources")).body, [
    { ship: "alpha", status: "online", resources: figures, error: null },
    { ship: "beta", status: "online", resources: null, error: "no figures" },
    { ship: "gamma", status: "offline", resources: null, error: null },
  ]);
});

Deno.test("routing: names that need escaping reach the ship whole", async () => {
  await using alpha = await ShipDouble.start("al pha", ["r ü?#/w%2e .x"]);
  await using rig = await fleet(alpha);
  const path = `/workspaces/${encodeURIComponent("r ü?#")}/${encodeURIComponent("w%2e .x")}`;
  assert.equal((await rig.ask("GET", path)).body.name, "w%2e .x");
  assert.equal((await rig.ask("GET", `${path}`)).body.ship, "al pha" as ShipName);
});
