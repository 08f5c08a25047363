import assert from "node:assert/strict";
import { z } from "zod";
import { endpoints, json } from "../../shared/api/endpoint.ts";
import { fail } from "../../shared/errors.ts";
import { type Connection, inProcessConnection } from "../../shared/http/connection.ts";
import { type Gate, router } from "../../shared/http/router.ts";
import { booleanQuery } from "../../shared/schema/query.ts";
import { silentLog } from "../../shared/log.ts";

const table = endpoints({
  get: {
    method: "GET",
    path: "/things/:repo/:name",
    audience: "user",
    summary: "",
    params: { repo: "repo", name: "workspace" },
    query: z.object({ on: booleanQuery.optional(), paths: z.array(z.string()).optional() }),
    reply: json(200, z.unknown()),
  },
  sweep: {
    method: "POST",
    path: "/things/sweep",
    audience: "user",
    summary: "",
    reply: json(200, z.unknown()),
  },
  post: {
    method: "POST",
    path: "/things/:name",
    audience: "user",
    summary: "",
    params: { name: "text" },
    body: z.object({ a: z.number() }),
    reply: json(201, z.unknown()),
  },
  boom: {
    method: "GET",
    path: "/boom",
    audience: "user",
    summary: "",
    reply: json(200, z.unknown()),
  },
});

const gate: Gate<string> = {
  identify: (request) => {
    if (request.headers.get("authorization") === null) throw fail("unauthorized");
    return "somebody";
  },
  authorize: () => {},
};

const serve = router({
  table,
  gate,
  log: silentLog,
  handlers: {
    get: ({ params, query }) => ({ params, query }),
    sweep: () => ({ swept: true }),
    post: ({ params, body }) => ({ params, body }),
    boom: () => {
      throw new Error("broken pipe dream");
    },
  },
});

async function ask(method: string, rawTarget: string, body?: string, credential = "Bearer x") {
  const request = new Request("http://ship.test/", {
    method,
    body: body ?? null,
    headers: credential === "" ? {} : { authorization: credential },
  });
  const connection: Connection = { ...inProcessConnection(request), rawTarget };
  const response = await serve(request, connection);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

Deno.test("parameters are decoded once, after the path is split", async () => {
  const reply = await ask("GET", "/things/my%20repo/a%2541");
  assert.deepEqual(reply.body.params, { repo: "my repo", name: "a%41" });
});

for (
  const [target, error, reason] of [
    ["/things/a%2Fb/c", "invalid repo identifier", "must not contain path separators"],
    ["/things/a/b%5Cc", "invalid workspace identifier", "must not contain path separators"],
    ["/things/a%00/c", "invalid repo identifier", "must not contain Unicode control characters"],
    ["/things/a/%ff", "invalid workspace identifier", "must be valid UTF-8"],
    ["/things/%2e%2e/c", "invalid repo identifier", "must not be . or .."],
    ["/things/../c", "invalid repo identifier", "must not be . or .."],
    ["/things//c", "invalid repo identifier", "must not be empty"],
    ["/things/a/%zz", "invalid workspace identifier", "must be valid UTF-8"],
  ] as const
) {
  Deno.test(`${target} is a 400 with the rule, never another route`, async () => {
    const reply = await ask("GET", target);
    assert.deepEqual([reply.status, reply.body], [400, { error, reason }]);
  });
}

Deno.test("booleans in the query; repeated keys; unknown keys", async () => {
  const reply = await ask("GET", "/things/a/b?on&paths=x&paths=y&other=1");
  assert.deepEqual(reply.body.query, { on: true, paths: ["x", "y"] });
  assert.equal((await ask("GET", "/things/a/b?on=maybe")).status, 422);
  assert.deepEqual((await ask("GET", "/things/a/b?on=0")).body.query, { on: false });
});

Deno.test("a validation failure is zod's 422, malformed JSON a 400", async () => {
  const wrong = await ask("POST", "/things/x", '{"a":"1"}');
  assert.equal(wrong.status, 422);
  assert.equal(wrong.body.success, false);
  assert.equal(wrong.body.error.name, "ZodError");
  assert.deepEqual(wrong.body.error.issues[0].path, ["a"]);
  assert.deepEqual((await ask("POST", "/things/x", "{")).body, { error: "malformed JSON body" });
});

Deno.test("a body past 1 MiB is a 413, declared or not", async () => {
  const large = JSON.stringify({ a: 1, pad: "x".repeat(1024 * 1024) });
  const reply = await ask("POST", "/things/x", large);
  assert.deepEqual([reply.status, reply.body], [413, { error: "request body too large" }]);
});

Deno.test("literal segments win over parameters", async () => {
  assert.deepEqual((await ask("POST", "/things/sweep")).body, { swept: true });
});

Deno.test("unknown paths and methods, after the credential", async () => {
  assert.equal((await ask("GET", "/nowhere", undefined, "")).status, 401);
  assert.deepEqual((await ask("GET", "/nowhere")).body, { error: "not found" });
  const wrong = await ask("DELETE", "/things/a/b");
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get("allow"), "GET");
});

Deno.test("an unexpected failure is a 500 with its message and without its stack", async () => {
  assert.deepEqual((await ask("GET", "/boom")).body, { error: "broken pipe dream" });
});
