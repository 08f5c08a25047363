/** Who gets to a terminal through a real bridge, and what ends one that is open. */
import assert from "node:assert/strict";
import { dial, DialError } from "../../shared/host/dial.ts";
import { revokedClose } from "../../bridge/auth/live_sockets.ts";
import { eventually } from "../support/grid_process.ts";
import { DaemonGrid } from "./daemon_grid.ts";

const mia = { username: "mia", email: "mia@example.test", password: "a member's password" };

/** The HTTP status with which the terminal route refuses this query and these headers, or null. */
async function refusal(
  grid: DaemonGrid,
  { name = "work", query = "", headers = {} }: {
    readonly name?: string;
    readonly query?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<number | null> {
  const url = grid.bridge.url.replace(/^http/, "ws") + grid.path(name) + query;
  try {
    (await dial(url, { openTimeoutMs: 10_000, headers })).terminate();
    return null;
  } catch (thrown) {
    assert.ok(thrown instanceof DialError);
    return thrown.status ?? assert.fail(thrown.message);
  }
}

/** A request without upgrade headers; its status. */
async function plain(grid: DaemonGrid, method: string, path: string, token?: string) {
  const headers: Record<string, string> = token === undefined
    ? {}
    : { authorization: `Bearer ${token}` };
  const response = await fetch(grid.bridge.url + path, { method, headers });
  await response.body?.cancel();
  return response.status;
}

Deno.test("a terminal takes one ticket, once, of somebody who is signed in, and nothing else", async () => {
  await using grid = await DaemonGrid.start();
  await grid.workspace("work");
  const bearer = { authorization: `Bearer ${grid.token}` };
  assert.equal(await refusal(grid, {}), 401);
  assert.equal(await refusal(grid, { query: "?ticket=" }), 401);
  assert.equal(await refusal(grid, { query: `?ticket=${grid.token}` }), 401);
  assert.equal(await refusal(grid, { query: `?ticket=${"x".repeat(43)}` }), 401);
  // A session alone opens no socket: a page could not keep it out of a URL.
  assert.equal(await refusal(grid, { headers: bearer }), 403);

  const ticket = await grid.ticket();
  const path = grid.path("work", ticket);
  // What is no upgrade neither gets in with a ticket nor uses it up.
  assert.equal(await plain(grid, "GET", path), 401);
  assert.equal(await plain(grid, "POST", path), 401);
  assert.equal(await plain(grid, "GET", path, grid.token), 403);
  const query = `?ticket=${ticket}`;
  assert.equal(
    await refusal(grid, { query, headers: { origin: "http://elsewhere.example" } }),
    403,
    "a foreign page",
  );
  assert.equal(await refusal(grid, { query }), null);
  assert.equal(await refusal(grid, { query }), 401, "used");
  await grid.isFree("bridge", "work");

  // Whoever has a ticket is told of nothing that is not there before the socket opens.
  assert.equal(await refusal(grid, { query: `?ticket=${await grid.ticket()}`, name: "no" }), null);
  const strange = await grid.ticket();
  assert.equal(await refusal(grid, { query: `?ticket=${strange}`, name: "..%2fx" }), 400);
  assert.equal(await refusal(grid, { query: `?ticket=${strange}` }), 401, "spent on the bad name");
  const twice = await grid.ticket();
  const both = `?ticket=${twice}&ticket=${await grid.ticket()}`;
  assert.equal(await refusal(grid, { query: both }), null);
  assert.equal(await refusal(grid, { query: `?ticket=${twice}` }), 401);
  await grid.isFree("bridge", "work");
});

Deno.test("a bridge that starts anew knows no ticket of before", async () => {
  await using grid = await DaemonGrid.start();
  const ticket = await grid.ticket();
  await grid.restartBridge();
  assert.equal(await refusal(grid, { query: `?ticket=${ticket}` }), 401);
});

type Act = (grid: DaemonGrid, token: string) => Promise<unknown>;
const revocations: Readonly<Record<string, Act>> = {
  "logout": (grid, token) => grid.ask("bridge", "POST", "/auth/logout", { token }),
  "a password changed by oneself": (grid, token) =>
    grid.ask("bridge", "PUT", "/users/mia/password", {
      token,
      body: { password: "another password", currentPassword: mia.password },
    }),
  "a password changed by an admin": (grid) =>
    grid.ask("bridge", "PUT", "/users/mia/password", { body: { password: mia.password } }),
  "another role": (grid) =>
    grid.ask("bridge", "PUT", "/users/mia/role", { body: { role: "admin" } }),
  "deletion": (grid) => grid.ask("bridge", "DELETE", "/users/mia"),
};

Deno.test("what revokes a user ends their open terminals, voids their tickets, frees the guard", async () => {
  await using grid = await DaemonGrid.start();
  await grid.workspace("hers");
  await grid.workspace("others");
  const others = await grid.attached("bridge", "others");
  for (const [what, revoke] of Object.entries(revocations)) {
    await grid.ask("bridge", "DELETE", "/users/mia").catch(() => {});
    await grid.ask("bridge", "POST", "/users", { body: mia });
    const token = await grid.login(mia);
    const client = await grid.attached("bridge", "hers", token);
    const unused = await grid.ticket(token);
    await revoke(grid, token);
    assert.deepEqual(await client.closes(), revokedClose, what);
    assert.equal(await refusal(grid, { query: `?ticket=${unused}`, name: "hers" }), 401, what);
    await grid.isFree("ship", "hers");
    assert.equal(others.closed, null, what);
  }
  others.type("echo undis''turbed\r");
  await others.shows("undisturbed");
  others.socket.close(1000);
  await others.closes();
});

Deno.test("the audit log names who attached to what, and no ticket stands anywhere", async () => {
  await using grid = await DaemonGrid.start();
  await grid.workspace("work");
  const before = await grid.ticket();
  assert.equal(await refusal(grid, { query: `?ticket=${before}` }), null);
  const log = grid.place.at("data", "audit.jsonl");
  const line = await eventually("the line of the attach", async () => {
    const lines = (await Deno.readTextFile(log)).trim().split("\n").map((each) => JSON.parse(each));
    return lines.find(({ action }) => action === "terminal.attach") ?? null;
  });
  const { at, ...rest } = line;
  assert.ok(!Number.isNaN(Date.parse(at)));
  assert.deepEqual(rest, {
    actor: "user/ada",
    action: "terminal.attach",
    target: "web/work",
    outcome: "ok",
    address: "127.0.0.1",
  });
  const written = [await Deno.readTextFile(log), ...grid.bridge.lines, ...grid.ship.lines];
  assert.ok(!written.join("\n").includes(before));
});
