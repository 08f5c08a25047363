/** Who may call a ship (interface, "Ship and bridge token pair", rules 4, 5, 7), and its MCP endpoint. */
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { shipApi } from "../../shared/api/ship_api.ts";
import { type Answer, TestShip } from "../support/ship_support.ts";

const error = (answer: Answer) => (answer.json as { error: string }).error;
const mcp = (name: string) => `/workspaces/repo/${name}/mcp`;
const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const accept = { accept: "application/json, text/event-stream" };

const routes = Object.entries(shipApi).map(([route, { method, path, audience }]) => ({
  route,
  method,
  path: path.replace(":repo", "repo").replace(":name", "one"),
  audience,
}));

Deno.test("ship access: [unauthorized] no credential or a wrong one opens nothing, known path or not", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  for (const { method, path } of [...routes, { method: "GET", path: "/nowhere" }]) {
    for (const token of [null, "wrong", "bridge-secre", "bridge-secret0"]) {
      const answer = await ship.ask(method, path, { token });
      assert.deepEqual(
        [answer.status, error(answer)],
        [401, "missing or invalid credential"],
        `${method} ${path} ${token}`,
      );
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    }
  }
  const basic = await ship.ask("GET", "/workspaces", {
    token: null,
    headers: { authorization: "Basic bridge-secret" },
  });
  assert.equal(basic.status, 401);
  await assert.rejects(ship.events({ headers: {} }), /401/);
  const { json } = await ship.ask("GET", "/workspaces");
  assert.equal((json as unknown[]).length, 1);
});

Deno.test("ship access: the bridge's token opens every route", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  // Deleting comes last: the other routes need their workspace.
  for (const { route, method, path } of routes.filter(({ route }) => route !== "deleteWorkspace")) {
    if (route === "mcpGet") continue;
    const { status } = await ship.ask(method, path, { body: method === "POST" ? {} : undefined });
    assert.ok(status !== 401 && status !== 403, `${method} ${path}: ${status}`);
  }
  await using events = await ship.events();
  assert.equal((await events.next()).type, "sync");
  assert.equal((await ship.ask("DELETE", "/workspaces/repo/one")).status, 200);
});

Deno.test("ship access: [wrongCredential] an agent's token opens its own workspace's mcp alone", async () => {
  await using ship = await TestShip.start();
  for (const name of ["one", "two"]) {
    await ship.create(name);
    await ship.activate(name);
  }
  const token = await ship.mcpToken("one");
  const other = await ship.mcpToken("two");
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  for (
    const { method, path, audience } of [...routes, { method: "GET", path: "/x", audience: "" }]
  ) {
    const answer = await ship.ask(method, path, { token: audience === "agent" ? other : token });
    assert.deepEqual(
      [answer.status, error(answer)],
      [403, "wrong credential for this route"],
      `${method} ${path}`,
    );
  }
  const post = await ship.ask("POST", mcp("one"), { token, body: ping, headers: accept });
  assert.deepEqual([post.status, post.json], [200, { jsonrpc: "2.0", id: 1, result: {} }]);
  // Stateless: there is no session to end, which is MCP's to say.
  const end = await ship.ask("DELETE", mcp("one"), { token });
  assert.ok(end.status === 200 || end.status === 405, String(end.status));
  assert.equal(await openStream(ship, token), 200);
  await assert.rejects(ship.events({ headers: { authorization: `Bearer ${token}` } }), /403/);
});

/** The status of a standing GET stream, which is closed at once. */
async function openStream(ship: TestShip, token: string): Promise<number> {
  const abort = new AbortController();
  const response = await fetch(`${ship.url}${mcp("one")}`, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
    signal: abort.signal,
  });
  await response.body?.cancel();
  abort.abort();
  return response.status;
}

Deno.test("ship access: an agent's token is void after deactivate, removal and the next activate", async () => {
  await using ship = await TestShip.start();
  const path = "/workspaces/repo/one";
  const status = async (token: string) =>
    (await ship.ask("POST", mcp("one"), { token, body: ping, headers: accept })).status;
  await ship.create("one");
  await ship.activate("one");
  const first = await ship.mcpToken("one");
  assert.equal(await status(first), 200);
  await ship.ask("POST", `${path}/deactivate`);
  assert.equal(await status(first), 401);
  await ship.activate("one");
  const second = await ship.mcpToken("one");
  assert.notEqual(second, first);
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
  await ship.ask("DELETE", path);
  assert.equal(await status(second), 401);
  await ship.create("one");
  assert.equal(await status(second), 401);
});

Deno.test("ship access: without GRID_BRIDGE_TOKEN the ship answers anyone, and warns", async () => {
  await using ship = await TestShip.start({ bridgeToken: null });
  assert.deepEqual(ship.warnings, [
    "GRID_BRIDGE_TOKEN is not set: this ship answers every program on this host",
  ]);
  await ship.create("one");
  await ship.activate("one");
  assert.match(await ship.mcpToken("one"), /^[A-Za-z0-9_-]{43}$/);
  for (const token of [null, "whatever"]) {
    assert.equal((await ship.ask("GET", "/workspaces", { token })).status, 200);
    const answer = await ship.ask("POST", mcp("one"), { token, body: ping, headers: accept });
    assert.equal(answer.status, 200);
  }
  await using events = await ship.events();
  assert.equal((await events.next()).type, "sync");
  await using open = await TestShip.start({ bridgeToken: null, hostname: "0.0.0.0" });
  assert.match(open.warnings.join(), /answers everybody who can reach this port/);
  await using guarded = await TestShip.start();
  assert.deepEqual(guarded.warnings, []);
});

Deno.test("ship access: a session knows its workspace, and none of the ship's tokens", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  await ship.activate("one");
  const environment = await ship.sessionEnvironment("one");
  const grid = Object.entries(environment).filter(([name]) => name.startsWith("GRID_"));
  assert.deepEqual(Object.fromEntries(grid.filter(([name]) => name !== "GRID_MCP_TOKEN")), {
    GRID_REPO: "repo",
    GRID_WORKSPACE: "one",
    GRID_SHIP: "ark",
    GRID_MCP_URL: `${ship.url}${mcp("one")}`,
  });
  assert.ok(!Object.values(environment).includes("bridge-secret"));
});

/** An MCP client of the workspace's endpoint, as an agent's harness would have it. */
async function agent(ship: TestShip, token: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${ship.url}${mcp("one")}`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

const call = async (client: Client, name: string, input: Record<string, unknown> = {}) => {
  const result = await client.callTool({ name, arguments: input });
  return {
    failed: result.isError === true,
    value: result.structuredContent,
    text: (result.content as { text: string }[])[0]?.text,
  };
};

Deno.test("ship access: [agentNotInitialized] an agent reports over MCP, and the fleet hears of it", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  await ship.activate("one");
  await using events = await ship.events();
  await events.next();
  await using client = await agent(ship, await ship.mcpToken("one"));
  assert.equal(client.getServerVersion()?.name, "grid-agent");
  const { tools } = await client.listTools();
  assert.deepEqual(tools.slice(0, 3).map((tool: { name: string }) => tool.name), [
    "agent_init",
    "agent_status",
    "agent_status_get",
  ]);
  for (const { inputSchema, outputSchema } of tools) {
    assert.ok(outputSchema !== undefined);
    assert.ok(!("repo" in (inputSchema.properties ?? {})), "tools take no selector");
  }
  assert.deepEqual((await call(client, "agent_status_get")).value, { status: null });
  const early = await call(client, "agent_status", { state: "building", description: "x" });
  assert.deepEqual([early.failed, early.text], [true, "agent not initialized: repo/one"]);

  const identity = { model: "m", provider: "p", harness: "h" };
  const init = await call(client, "agent_init", identity);
  const idle = { state: "idle", description: "", ...identity };
  assert.deepEqual([init.failed, init.value, JSON.parse(init.text ?? "")], [false, idle, idle]);
  const building = { ...idle, state: "building", description: "a cart" };
  const update = await call(client, "agent_status", { state: "building", description: "a cart" });
  assert.deepEqual(update.value, building);
  for (const expected of [idle, building]) {
    const event = await events.next();
    assert.equal(event.type, "workspace.agent_status_changed");
    assert.deepEqual(event.workspace.agent, expected);
  }
  const wrong = await call(client, "agent_status", { state: "sleeping", description: "" });
  assert.ok(wrong.failed);
  const { json } = await ship.ask("GET", "/workspaces/repo/one");
  assert.deepEqual((json as { agent: unknown }).agent, building);
  await ship.ask("POST", "/workspaces/repo/one/deactivate");
  await ship.activate("one");
  const { json: anew } = await ship.ask("GET", "/workspaces/repo/one");
  assert.equal((anew as { agent: unknown }).agent, null);
});

Deno.test("ship access: [workspaceNotActive] the agent of a sleeping workspace cannot report", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  await using client = await agent(ship, "bridge-secret");
  const early = await call(client, "agent_init", { model: "m", provider: "p", harness: "h" });
  assert.deepEqual([early.failed, early.text], [true, "workspace not active: repo/one"]);
});
