import assert from "node:assert/strict";
import { refusalOf } from "../../bridge/auth/policy.ts";
import type { Principal } from "../../bridge/auth/principals.ts";
import type { Audience } from "../../shared/api/endpoint.ts";
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import type { ShipName } from "../../shared/ids.ts";
import { permissionTable, type PrincipalKind, principalKinds } from "./permission_table.ts";
import { AuthBench } from "../support/auth_support.ts";

const ofUser = { userId: "1", email: "", sessionHash: "" };
const mia = { ...ofUser, username: "mia", role: "member" } as const;
const principals = (path: string): Record<PrincipalKind, Principal> => ({
  none: { kind: "anonymous" },
  badToken: { kind: "anonymous" },
  member: { kind: "user", ...mia },
  admin: { kind: "user", ...ofUser, username: "ada", role: "admin" },
  ship: { kind: "ship", ship: "alpha" as ShipName },
  shipAgent: {
    kind: "shipAgent",
    ship: "alpha" as ShipName,
    atRepos: path.split("/")[1] === "repos",
  },
  ticket: { kind: "ticket", ...mia, sessionExpiresAtMs: 0, revocationMark: 0 },
});

/** The audience of the route that the endpoint table has for a row, and the row's parameters. */
function routeOf(method: string, path: string) {
  const segments = path.split("/");
  for (const endpoint of Object.values(bridgeApi)) {
    const parts = endpoint.path.split("/");
    const fits = endpoint.method === method && parts.length === segments.length &&
      parts.every((part, index) => part.startsWith(":") || part === segments[index]);
    if (!fits) continue;
    const params = Object.fromEntries(
      parts.flatMap((part, index) =>
        part.startsWith(":") ? [[part.slice(1), segments[index]]] : []
      ),
    );
    return { audience: endpoint.audience as Audience, params };
  }
  return null;
}

const statusOf = { unauthorized: 401, wrongCredential: 403, adminRequired: 403 } as const;

Deno.test("the policy says of every route in the table what the interface says", () => {
  let routed = 0;
  for (const { method, path, served, expected } of permissionTable) {
    const route = routeOf(method, path);
    if (route !== null) {
      assert.ok(served, `${method} ${path} is no route of the bridge`);
      routed += 1;
    } else if (served) {
      // Its endpoint is still to come; the test over the whole bridge holds every row to a route.
      continue;
    }
    const asked = route ?? { audience: null, params: {} };
    for (const kind of principalKinds) {
      const refusal = refusalOf(principals(path)[kind], asked);
      const actual = refusal === null ? "pass" : statusOf[refusal];
      assert.equal(actual, expected[kind], `${kind} ${method} ${path}`);
    }
    assert.equal(refusalOf({ kind: "insecure" }, asked), null, `insecure ${method} ${path}`);
  }
  assert.ok(routed > 25, "the table and the routes do not meet");
});

Deno.test("every route of the bridge stands in the table", () => {
  const covered = permissionTable.map(({ method, path }) => routeOf(method, path));
  for (const [name, { method, path }] of Object.entries(bridgeApi)) {
    const sample = path.replace(":username", "mia").replaceAll(/:[a-z]+/gi, "web");
    const route = routeOf(method, sample);
    assert.ok(
      covered.some((one) => one?.audience === route?.audience) &&
        permissionTable.some((row) =>
          row.method === method && row.path.split("/").length === path.split("/").length
        ),
      name,
    );
  }
});

Deno.test("the refusals' words: [unauthorized] [wrongCredential] [adminRequired]", async () => {
  const { bench, member, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  const { shipToken } = await bench.auth.shipCredentials.provision("alpha" as ShipName);
  const agent = await bench.auth.agentTokens.mint("alpha" as ShipName);
  const get = (path: string, token?: string) =>
    bench.ask("GET", path, token === undefined ? {} : { token });
  for (const path of ["/users", "/nowhere", "/users/%ff", "/repos"]) {
    const answer = await get(path);
    assert.equal(answer.status, 401, path);
    assert.deepEqual(answer.body, { error: "missing or invalid credential" });
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    assert.equal((await get(path, "nobody's")).status, 401);
    assert.equal((await get(path, "x".repeat(100_000))).status, 401);
  }
  assert.deepEqual((await get("/users", member)).body, {
    error: "this endpoint requires an admin",
  });
  assert.deepEqual((await get("/users", shipToken)).body, {
    error: "wrong credential for this route",
  });
  assert.equal((await get("/nowhere", shipToken)).status, 403);
  assert.equal((await get("/users", agent)).status, 403);
  assert.equal((await get("/repos", agent)).status, 200);
  assert.equal((await get("/repos/x/y", agent)).status, 404);
  assert.equal((await bench.ask("PATCH", "/repos", { token: agent })).status, 405);
  assert.equal((await get("/nowhere", member)).status, 404);
  const bad = await bench.ask("PUT", "/users/%ff/role", { body: { role: "member" } });
  assert.equal(bad.status, 401, "a stranger does not learn that the path is bad");
  assert.equal((await bench.ask("PUT", "/users/%ff/role", { token: admin, body: {} })).status, 400);
});

Deno.test("credentials come as a bearer, in any case of the word, and no other way", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  const status = async (authorization: string) =>
    (await bench.ask("GET", "/auth/me", { headers: { authorization } })).status;
  assert.equal(await status(`bearer ${member}`), 200);
  assert.equal(await status(`BEARER  ${member} `), 200);
  for (
    const other of [member, `Basic ${member}`, `Bearer ${member} x`, `Bearer${member}`, "Bearer"]
  ) {
    assert.equal(await status(other), 401, other);
  }
  assert.equal((await bench.ask("GET", `/auth/me?token=${member}`)).status, 401);
  const cookie = { cookie: `token=${member}` };
  assert.equal((await bench.ask("GET", "/auth/me", { headers: cookie })).status, 401);
});

Deno.test("a hostile page is refused on open routes too, before its credential is read", async () => {
  const { bench, member: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const ask = (path: string, headers: Record<string, string>) =>
    bench.ask("GET", path, { token, headers });
  for (const path of ["/auth/mode", "/auth/me", "/nowhere"]) {
    assert.equal((await ask(path, { origin: "https://evil.example" })).status, 403);
    assert.equal((await ask(path, { "sec-fetch-site": "cross-site" })).status, 403);
  }
  assert.equal((await ask("/auth/me", { origin: "http://localhost:4800" })).status, 200);
});

Deno.test("without authentication everybody is an admin, except for hostile pages", async () => {
  await using bench = await AuthBench.open({ insecure: true });
  assert.deepEqual((await bench.ask("GET", "/auth/mode")).body, { authRequired: false });
  assert.deepEqual((await bench.ask("GET", "/users", { token: "rubbish" })).body, []);
  assert.equal((await bench.ask("GET", "/auth/me")).body.role, "admin");
  assert.match((await bench.ask("POST", "/auth/ws-ticket")).body.ticket, /^[A-Za-z0-9_-]{43}$/);
  const headers = { origin: "https://evil.example" };
  assert.equal((await bench.ask("GET", "/users", { headers })).status, 403);
  await using secure = await AuthBench.open();
  assert.deepEqual((await secure.ask("GET", "/auth/mode")).body, { authRequired: true });
});
