import assert from "node:assert/strict";
// The package's exports map hides its declarations from Deno behind the `.js`: hence `@ts-types`.
// @ts-types="@modelcontextprotocol/sdk/client/index"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { z } from "zod";
import { fail } from "../../shared/errors.ts";
import { browserRules } from "../../shared/http/browser_guard.ts";
import { type WorkspaceId, type WorkspaceKey, workspaceKey } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import { silentLog } from "../../shared/log.ts";
import type { AgentStatus } from "../../shared/schema/agent.ts";
import { McpEndpoint } from "../../ship/agent/mcp.ts";
import { AgentMemory } from "../../ship/agent/memory.ts";
import { agentTools, tool } from "../../ship/agent/tools.ts";
import { workspaceId } from "../support/ids_support.ts";

const [one, two] = [workspaceId("r", "one"), workspaceId("r", "two")];
const init = { model: "m", provider: "p", harness: "h" };
const url = new URL("http://127.0.0.1:4700/workspaces/r/one/mcp");

/** An endpoint with its surroundings, and clients that reach it without a network. */
class Stage implements AsyncDisposable {
  readonly memory = new AgentMemory();
  readonly active = new Set<WorkspaceKey>([workspaceKey(one), workspaceKey(two)]);
  readonly changes: Array<readonly [WorkspaceId, AgentStatus]> = [];
  announce: () => Promise<void> = () => Promise.resolve();
  readonly endpoint: McpEndpoint;
  readonly #clients: Client[] = [];

  constructor() {
    const broken = tool({
      name: "broken",
      title: "Broken",
      description: "Always throws",
      readOnly: true,
      input: z.object({}),
      output: z.object({}),
      run: () => Promise.reject(new Error("it broke")),
    });
    const tools = agentTools({
      memory: this.memory,
      requireActive: (id) =>
        this.active.has(workspaceKey(id))
          ? Promise.resolve()
          : Promise.reject(fail("workspaceNotActive", id)),
      statusChanged: (id, status) => {
        this.changes.push([id, status]);
        return this.announce();
      },
      log: silentLog,
    });
    const rules = browserRules({ publicUrl: null, hostname: "127.0.0.1", port: 4700 });
    this.endpoint = new McpEndpoint({
      version: "1.0.0",
      tools: [...tools, broken],
      rules: () => rules,
      log: silentLog,
    });
  }

  async client(id: WorkspaceId, headers: Record<string, string> = {}): Promise<Client> {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(url, {
      requestInit: { headers },
      fetch: (input, options) => this.endpoint.handle(id, new Request(input, options)),
    });
    await client.connect(transport);
    this.#clients.push(client);
    return client;
  }

  send(id: WorkspaceId, options: RequestInit): Promise<Response> {
    return this.endpoint.handle(id, new Request(url, options));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.endpoint[Symbol.asyncDispose]();
  }
}

const accept = "application/json, text/event-stream";
const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { accept, "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const protocolErrorSchema = z.object({
  jsonrpc: z.literal("2.0"),
  error: z.object({ code: z.number(), message: z.string() }),
  id: z.null(),
});
const errorOf = async (response: Response) =>
  protocolErrorSchema.parse(await response.json()).error.message;

Deno.test("the server names itself and lists its tools with both schemas", async () => {
  await using stage = new Stage();
  const client = await stage.client(one);
  assert.equal(client.getServerVersion()?.name, "grid-agent");
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), [
    "agent_init",
    "agent_status",
    "agent_status_get",
    "broken",
  ]);
  for (const { inputSchema, outputSchema } of tools) {
    assert.equal(inputSchema.type, "object");
    assert.equal(outputSchema?.type, "object");
  }
  assert.deepEqual(tools[0]?.inputSchema.required, ["model", "provider", "harness"]);
  assert(tools.every(({ inputSchema }) => !("repo" in (inputSchema.properties ?? {}))));
});

Deno.test("status before init fails as a tool; init, status and get agree", async () => {
  await using stage = new Stage();
  const client = await stage.client(one);
  await client.listTools();
  const early = { name: "agent_status", arguments: { state: "building", description: "x" } };
  assert.deepEqual(await client.callTool(early), {
    content: [{ type: "text", text: "agent not initialized: r/one" }],
    isError: true,
  });
  assert.deepEqual(stage.changes, []);

  const first = await client.callTool({ name: "agent_init", arguments: init });
  const idle = { state: "idle", description: "", ...init };
  assert.deepEqual(first.structuredContent, idle);
  assert.deepEqual(first.content, [{
    type: "text",
    text: JSON.stringify(first.structuredContent),
  }]);
  const building = { state: "building", description: "x", ...init };
  assert.deepEqual((await client.callTool(early)).structuredContent, building);
  const got = await client.callTool({ name: "agent_status_get", arguments: {} });
  assert.deepEqual(got.structuredContent, { status: building });
  assert.deepEqual(stage.changes, [[one, idle], [one, building]]);

  const elsewhere = await stage.client(two);
  const other = await elsewhere.callTool({ name: "agent_status_get", arguments: {} });
  assert.deepEqual(other.structuredContent, { status: null });
});

Deno.test("an inactive workspace takes no status and announces none", async () => {
  await using stage = new Stage();
  stage.active.delete(workspaceKey(one));
  const client = await stage.client(one);
  const refused = await client.callTool({ name: "agent_init", arguments: init });
  assert.equal(refused.isError, true);
  assert.deepEqual(refused.content, [{ type: "text", text: "workspace not active: r/one" }]);
  assert.equal(stage.memory.get(one), null);
  assert.deepEqual(stage.changes, []);
});

Deno.test("wrong input and a broken tool are tool errors, a failed announcement is none", async () => {
  await using stage = new Stage();
  const client = await stage.client(one);
  const wrong = await client.callTool({ name: "agent_init", arguments: { model: 1 } });
  assert.equal(wrong.isError, true);
  const state = { state: "sleeping", description: "" };
  assert.equal((await client.callTool({ name: "agent_status", arguments: state })).isError, true);
  const broken = await client.callTool({ name: "broken", arguments: {} });
  assert.deepEqual([broken.isError, broken.content], [true, [{ type: "text", text: "it broke" }]]);
  stage.announce = () => Promise.reject(new Error("no branch"));
  const done = await client.callTool({ name: "agent_init", arguments: init });
  assert.equal(done.isError, undefined);
});

Deno.test("a POST is answered as JSON or as events, as its client prefers", async () => {
  await using stage = new Stage();
  const json = await stage.send(one, post(list));
  assert.match(json.headers.get("content-type") ?? "", /^application\/json/);
  assert.equal((await json.json()).result.tools.length, 4);
  const events = await stage.send(
    one,
    post(list, { accept: "text/event-stream, application/json" }),
  );
  assert.match(events.headers.get("content-type") ?? "", /^text\/event-stream/);
  const data = /^data: (.*)$/m.exec(await events.text())?.[1] ?? "";
  assert.equal(JSON.parse(data).result.tools.length, 4);
  for (const response of [json, events]) assert.equal(response.headers.get("mcp-session-id"), null);
});

Deno.test("bad requests come back in MCP shape", async () => {
  await using stage = new Stage();
  const cases: Array<readonly [number, RequestInit]> = [
    [400, post("{")],
    [400, post({ hello: "there" })],
    [400, post(list, { "mcp-protocol-version": "1999-01-01" })],
    [406, post(list, { accept: "application/json" })],
    [415, post(list, { "content-type": "text/plain" })],
    [413, post(" ".repeat(limits.requestBodyBytesMax + 1))],
    [403, post(list, { origin: "https://elsewhere.example" })],
    [403, post(list, { origin: "null" })],
    [403, post(list, { host: "rebound.example:4700" })],
    [405, { method: "PUT", body: "{}" }],
    [406, { method: "GET", headers: { accept: "application/json" } }],
  ];
  for (const [status, options] of cases) {
    const response = await stage.send(one, options);
    assert.equal(response.status, status, JSON.stringify(options.headers));
    assert.notEqual(await errorOf(response), "");
  }
  const allowed = await stage.send(one, post(list, { origin: "http://localhost:4700" }));
  assert.equal(allowed.status, 200);
  await allowed.body?.cancel();
});

Deno.test("DELETE is fine without a session; a GET stream stands until someone ends it", async () => {
  await using stage = new Stage();
  assert.equal((await stage.send(one, { method: "DELETE" })).status, 200);
  const headers = { accept: "text/event-stream" };

  const cancelled = await stage.send(one, { headers });
  assert.equal(cancelled.status, 200);
  await cancelled.body?.cancel();

  const leaving = new AbortController();
  const left = await stage.send(one, { headers, signal: leaving.signal });
  leaving.abort();
  assert.equal(await left.text(), "");

  const open = await Promise.all(Array.from({ length: 64 }, () => stage.send(one, { headers })));
  assert(open.every(({ status }) => status === 200));
  const refused = await stage.send(one, { headers });
  assert.equal(refused.status, 503);
  assert.match(await errorOf(refused), /too many event streams/);
  await stage.endpoint[Symbol.asyncDispose]();
  for (const response of open) assert.equal(await response.text(), "");
});
