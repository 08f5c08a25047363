/** The repo tools of a running ship: through a bridge's /repos routes, with the credential that it pushed. */
import assert from "node:assert/strict";
import { FleetRig } from "../support/fleet_rig.ts";
import { TestForge } from "../support/forge/forge.ts";
import { listen, type Listener } from "../../shared/host/listen.ts";
import { McpAgent } from "../support/mcp_support.ts";
import { runningShip } from "../support/running_ship.ts";

const json = { "content-type": "application/json" };

const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
};

/** A bridge's routes on a port, and the Authorization headers that they saw. */
async function serve(rig: FleetRig): Promise<{ listener: Listener; seen: (string | null)[] }> {
  const seen: (string | null)[] = [];
  const listener = await listen({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, connection) => {
      seen.push(request.headers.get("authorization"));
      return rig.fetch(request, connection);
    },
  });
  return { listener, seen };
}

Deno.test("[bridgeUrlNotHttp] [bridgeUrlInvalid] [validation] credentials: what is taken, and what is not", async () => {
  await using ship = await runningShip("ark");
  const push = (body: unknown) => post(`${ship.url}/agent/credentials`, body);
  assert.deepEqual(await push({ bridgeUrl: "http://127.0.0.1:1", token: "t" }), {
    status: 200,
    body: { ok: true },
  });
  assert.deepEqual(await push({ bridgeUrl: "ftp://u:secret@h/x", token: "t" }), {
    status: 400,
    body: { error: "bridge url must be http(s): ftp://h/x" },
  });
  for (const bridgeUrl of ["", "nowhere", "http://u:secret@h/", "http://h/?q=1"]) {
    const { status, body } = await push({ bridgeUrl, token: "t" });
    assert.equal(status, 400, bridgeUrl);
    assert.match(body.error, /^invalid bridge url: /);
    assert.ok(!body.error.includes("secret"));
  }
  assert.equal((await push({ bridgeUrl: "http://h" })).status, 422);
  assert.equal((await push({ token: "t" })).status, 422);
});

Deno.test("credentials: on a ship with a token, only its bridge may push them", async () => {
  await using ship = await runningShip("ark", { bridgeToken: "b" });
  const url = `${ship.url}/agent/credentials`;
  const body = { bridgeUrl: "http://127.0.0.1:1", token: "t" };
  assert.equal((await post(url, body)).status, 401);
  assert.equal((await post(url, body, { authorization: "Bearer b" })).status, 200);
});

Deno.test("repo tools: fail until a bridge has pushed a credential, while status tools work", async () => {
  await using forge = await TestForge.start();
  await using ship = await runningShip("ark");
  const create = { url: forge.cloneUrl, repoName: "web", name: "w", branch: "main" };
  assert.equal((await post(`${ship.url}/workspaces`, create)).status, 201);
  await using agent = await McpAgent.connect(`${ship.url}/workspaces/web/w/mcp`);
  await assert.rejects(agent.call("repo_info"), /no bridge has given this ship a credential yet/);
  assert.deepEqual(await agent.call("agent_status_get"), { status: null });
});

Deno.test("repo tools: every one of them, on the workspace's own repo and branch", async () => {
  await using forge = await TestForge.start();
  await using ship = await runningShip("ark");
  await using rig = await FleetRig.start({ github: forge.github });
  await rig.repo("web", forge.cloneUrl, "github");
  const { listener, seen } = await serve(rig);
  await using _listening = { [Symbol.asyncDispose]: () => listener.shutdown() };
  const create = { url: forge.cloneUrl, repoName: "web", name: "w", branch: "feat" };
  await forge.state.createBranch("feat", (await forge.state.commit("main"))!);
  assert.equal((await post(`${ship.url}/workspaces`, create)).status, 201);
  const pushed = { bridgeUrl: listener.url, token: "agent-token" };
  assert.equal((await post(`${ship.url}/agent/credentials`, pushed)).status, 200);
  const issue = forge.state.openIssue("one", { labels: ["bug"] });
  const pull = forge.state.openPull("feat");
  forge.state.checkRuns.push({
    id: 5,
    name: "test",
    ref: "feat",
    app: "github-actions",
    status: "completed",
    conclusion: "failure",
    log: "\x1b[31mfirst\x1b[0m\nlast\n",
  });

  await using agent = await McpAgent.connect(`${ship.url}/workspaces/web/w/mcp`);
  const { tools } = await agent.client.listTools();
  assert.equal(tools.length, 13);
  for (const tool of tools as { inputSchema?: unknown; outputSchema?: unknown }[]) {
    assert.ok(tool.inputSchema !== undefined && tool.outputSchema !== undefined);
  }
  assert.equal((await agent.call("repo_info")).defaultBranch, "main");
  assert.equal((await agent.call("repo_issue_list", { label: ["bug"] })).issues.length, 1);
  assert.deepEqual((await agent.call("repo_issue_list", { state: "closed" })).issues, []);
  const number = issue.number;
  assert.match((await agent.call("repo_issue_comment", { number, body: "on it" })).url, /comment/);
  assert.equal((await agent.call("repo_issue_view", { number })).comments[0].body, "on it");
  assert.equal((await agent.call("repo_pr_list", { head: "feat" })).pulls[0].number, pull.number);
  const ofPull = { number: pull.number };
  await agent.call("repo_pr_comment", { ...ofPull, body: "done" });
  await agent.call("repo_pr_review", { ...ofPull, event: "comment", body: "fine" });
  const view = await agent.call("repo_pr_view", ofPull);
  assert.deepEqual([view.comments.length, view.reviews.length], [1, 1]);
  const checks = await agent.call("repo_checks");
  assert.deepEqual([checks.ref, checks.conclusion], ["feat", "failure"]);
  assert.equal((await agent.call("repo_checks", { ref: "main" })).ref, "main");
  assert.match((await agent.call("repo_checks", { pull: pull.number })).ref, /^[0-9a-f]{40}$/);
  const { logs } = await agent.call("repo_failed_logs", { tail: 1 });
  assert.deepEqual(logs.map(({ log }: { log: string }) => log), ["last"]);
  assert.ok(seen.length > 0 && seen.every((header) => header === "Bearer agent-token"));

  await assert.rejects(
    agent.call("repo_issue_view", { number: 99 }),
    /issue not found: #99 of web/,
  );
  await assert.rejects(agent.call("repo_issue_list", { limit: 101 }), /limit/);
  await assert.rejects(agent.call("repo_checks", { ref: "main", pull: 1 }), /exactly one/);
  await assert.rejects(agent.call("repo_checks", { ref: "mine" }), /push the branch first/);
  forge.assertFaultless();
  await listener.shutdown();
  await assert.rejects(agent.call("repo_info"), /the bridge did not answer: /);
});
