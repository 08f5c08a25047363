/** Every route of a ship over HTTP, on real git, real tmux and a real port. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { join } from "node:path";
import { shipApi } from "../../shared/api/ship_api.ts";
import { parseEvent } from "../../shared/http/event_stream.ts";
import { systemResourcesSchema } from "../../shared/schema/ship.ts";
import { git } from "../support/grid_support.ts";
import { type Answer, TestShip } from "../support/ship_support.ts";

const one = "/workspaces/repo/one";
const error = (answer: Answer) => (answer.json as { error: string }).error;

Deno.test("ship routes: a workspace's life over HTTP", async () => {
  await using ship = await TestShip.start();
  const body = { url: ship.remote, repoName: "repo", name: "one", branch: "feat/x" };
  const made = await ship.ask("POST", "/workspaces", { body });
  const summary = { repoName: "repo", name: "one", branch: "feat/x", active: false, agent: null };
  assert.deepEqual([made.status, made.json], [201, summary]);
  assert.deepEqual((await ship.ask("GET", "/workspaces")).json, [summary]);
  assert.deepEqual((await ship.ask("GET", one)).json, {
    state: "inactive",
    repoName: "repo",
    name: "one",
    branch: "feat/x",
  });
  const branch = await ship.ask("POST", `${one}/branch`, { body: { branch: "topic" } });
  assert.deepEqual([branch.status, branch.json], [200, { ok: true }]);
  assert.deepEqual((await ship.ask("POST", `${one}/activate`)).json, { ok: true });
  assert.deepEqual((await ship.ask("GET", one)).json, {
    state: "active",
    repoName: "repo",
    name: "one",
    branch: "topic",
    diff: { added: 0, removed: 0, commits: 0 },
    agent: null,
    issue: null,
    mergeRequest: null,
    ship: "ark",
  });
  for (const [query, count] of [["true", 1], ["false", 0], ["maybe", 1], ["", 1]] as const) {
    const { json } = await ship.ask("GET", `/workspaces?active=${query}`);
    assert.equal((json as unknown[]).length, count, query);
  }
  assert.deepEqual((await ship.ask("POST", `${one}/deactivate`)).json, { ok: true });
  assert.deepEqual((await ship.ask("DELETE", one)).json, { ok: true });
  assert.deepEqual((await ship.ask("GET", "/workspaces")).json, []);
});

Deno.test("ship routes: the diff in all its forms is plain text", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  const directory = ship.directoryOf("repo", "one");
  await Deno.writeTextFile(join(directory, "README"), "one\nTWO\n");
  await Deno.writeTextFile(join(directory, "new file"), "new\n");
  await Deno.writeTextFile(join(directory, "staged"), "staged\n");
  await git(directory, "add", "staged");
  const diff = async (query: string) => {
    const answer = await ship.ask("GET", `${one}/diff${query}`);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
    return answer.text;
  };
  const plain = await diff("");
  assert.match(plain, /^diff --git a\/README b\/README\n/);
  assert.match(plain, /^\+TWO$/m);
  assert.match(await diff("?staged=true"), /^diff --git a\/staged b\/staged\n/);
  assert.match(await diff("?stat"), /README \| 2 \+-/);
  assert.equal(await diff("?nameOnly=1"), "README\n");
  assert.match(await diff("?includeUntracked=true"), /^\+\+\+ "?b\/new file/m);
  assert.equal(await diff("?paths=nothing&paths=here"), "");
  assert.match(await diff("?paths=README"), /README/);
  assert.equal(await diff("?range=HEAD..HEAD"), "");
  const bad = await ship.ask("GET", `${one}/diff?range=--output=x`);
  assert.equal(bad.status, 400);
  assert.match(error(bad), /^could not diff: /);
});

Deno.test("ship routes: system resources are as described, atlas.json holds the real port", async () => {
  await using ship = await TestShip.start();
  const { status, json } = await ship.ask("GET", "/system-resources");
  assert.equal(status, 200);
  systemResourcesSchema.strict().parse(json);
  const atlas = JSON.parse(await Deno.readTextFile(join(ship.gridDirectory, "atlas.json")));
  assert.deepEqual(atlas, { port: Number(new URL(ship.url).port) });
});

Deno.test("ship routes: [validation] fields missing or mistyped give zod's own body", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  const create = { url: ship.remote, repoName: "repo", name: "two", branch: "main" };
  const refused: ReadonlyArray<readonly [string, string, unknown?]> = [
    ...(["url", "repoName", "name", "branch"] as const).flatMap((key) => [
      ["POST", "/workspaces", { ...create, [key]: undefined }] as const,
      ["POST", "/workspaces", { ...create, [key]: 7 }] as const,
    ]),
    ["POST", "/workspaces", []],
    ["POST", `${one}/branch`, {}],
    ["POST", `${one}/branch`, { branch: null }],
    ["DELETE", `${one}?force=maybe`],
    ["GET", `${one}/diff?staged=maybe`],
  ];
  for (const [method, path, body] of refused) {
    const answer = await ship.ask(method, path, { body });
    const json = answer.json as { success: boolean; error: { name: string; issues: unknown[] } };
    assert.equal(answer.status, 422, `${method} ${path} ${answer.text}`);
    assert.deepEqual([json.success, json.error.name], [false, "ZodError"]);
    assert.ok(json.error.issues.length > 0);
  }
  const broken = await ship.ask("POST", "/workspaces", { body: "{" });
  assert.deepEqual([broken.status, error(broken)], [400, "malformed JSON body"]);
});

Deno.test("ship routes: [invalidRepoIdentifier] [invalidWorkspaceIdentifier] in path and body", async () => {
  await using ship = await TestShip.start();
  for (const raw of ["%2F", "%5C", "%00", "%ff", "a%2Fb", "%C2%85", "x".repeat(129)]) {
    const repo = await ship.ask("GET", `/workspaces/${raw}/one`);
    assert.deepEqual([repo.status, error(repo)], [400, "invalid repo identifier"], raw);
    const name = await ship.ask("GET", `/workspaces/repo/${raw}`);
    assert.deepEqual([name.status, error(name)], [400, "invalid workspace identifier"], raw);
  }
  // A URL parser would have taken the dots for steps up.
  const dots = await raw(ship, "GET /workspaces/%2e%2e/one HTTP/1.1");
  assert.match(dots, /^HTTP\/1\.1 400 /);
  assert.match(dots, /invalid repo identifier/);
  const body = { url: ship.remote, repoName: "repo", name: "a/b", branch: "main" };
  const name = await ship.ask("POST", "/workspaces", { body });
  assert.deepEqual([name.status, name.json], [400, {
    error: "invalid workspace identifier",
    reason: "must not contain path separators",
  }]);
  const repo = await ship.ask("POST", "/workspaces", { body: { ...body, repoName: ".." } });
  assert.deepEqual([repo.status, repo.json], [400, {
    error: "invalid repo identifier",
    reason: "must not be . or ..",
  }]);
});

Deno.test("ship routes: names with spaces, dots, percent signs and beyond ASCII", async () => {
  await using ship = await TestShip.start();
  for (const name of ["a b", "100%", "#{x}$(y)", "naïve.name", "☃", "a%2Fb"]) {
    await ship.create(name);
    const path = `/workspaces/repo/${encodeURIComponent(name)}`;
    assert.equal((await ship.ask("POST", `${path}/activate`)).status, 200, name);
    const { json } = await ship.ask("GET", path);
    assert.deepEqual([(json as { name: string }).name], [name]);
    assert.equal((json as { state: string }).state, "active");
    assert.equal((await ship.ask("DELETE", path)).status, 200, name);
  }
});

Deno.test("ship routes: [invalidCreateRequest] [emptyBranch] [branchNotCreated] [noRemoteHead]", async () => {
  await using ship = await TestShip.start();
  const create = (fields: Record<string, string>) =>
    ship.ask("POST", "/workspaces", {
      body: { url: ship.remote, repoName: "repo", name: "one", branch: "main", ...fields },
    });
  const url = await create({ url: "ext::touch x" });
  assert.deepEqual([url.status, error(url)], [400, "invalid workspace create request"]);
  const branch = await create({ branch: "  " });
  assert.deepEqual([branch.status, error(branch)], [400, "branch must not be empty"]);
  const name = await create({ branch: "a..b" });
  assert.equal(name.status, 400);
  assert.match(error(name), /^could not create branch "a\.\.b": ./);
  const empty = join(ship.root, "empty.git");
  await git(ship.root, "init", "-q", "--bare", empty);
  const headless = await create({ url: empty, branch: "x" });
  assert.deepEqual(
    [headless.status, error(headless)],
    [400, 'remote has no usable HEAD to create branch "x" from'],
  );
});

Deno.test("ship routes: [workspaceNotFound] [workspaceExists] [workspaceNotActive] [workspaceAlreadyActive] [holdsWork]", async () => {
  await using ship = await TestShip.start();
  for (
    const [method, path, body] of [
      ["GET", one],
      ["GET", `${one}/diff`],
      ["POST", `${one}/branch`, { branch: "x" }],
      ["POST", `${one}/activate`],
      ["POST", `${one}/deactivate`],
      ["POST", `${one}/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }],
      ["DELETE", one],
    ] as const
  ) {
    const answer = await ship.ask(method, path, { body });
    assert.deepEqual(
      [answer.status, error(answer)],
      [404, "workspace not found: repo/one"],
      `${method} ${path}`,
    );
  }
  await ship.create("one");
  const body = { url: ship.remote, repoName: "repo", name: "one", branch: "main" };
  const again = await ship.ask("POST", "/workspaces", { body });
  assert.deepEqual([again.status, error(again)], [409, "workspace already exists: repo/one"]);
  const idle = await ship.ask("POST", `${one}/deactivate`);
  assert.deepEqual([idle.status, error(idle)], [400, "workspace not active: repo/one"]);
  await ship.activate("one");
  const active = await ship.ask("POST", `${one}/activate`);
  assert.deepEqual([active.status, error(active)], [400, "workspace already active: repo/one"]);
  await Deno.writeTextFile(join(ship.directoryOf("repo", "one"), "mine"), "work");
  const held = await ship.ask("DELETE", `${one}?force=false`);
  assert.equal(held.status, 409);
  assert.match(error(held), /^workspace repo\/one holds work that is not on a remote: .*mine/);
  assert.equal((await ship.ask("GET", one)).status, 200);
  assert.equal((await ship.ask("DELETE", `${one}?force=true`)).status, 200);
});

Deno.test("ship routes: [escapesGridDirectory] a repo or workspace reached by a link is no way out", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  const outside = join(ship.root, "outside");
  await Deno.rename(join(ship.gridDirectory, "repo"), outside);
  await Deno.writeTextFile(join(outside, "canary"), "alive");
  await Deno.symlink(outside, join(ship.gridDirectory, "repo"));
  await Deno.mkdir(join(ship.gridDirectory, "other"));
  await Deno.symlink(join(outside, "one"), join(ship.gridDirectory, "other", "one"));
  for (const repo of ["repo", "other"]) {
    const path = `/workspaces/${repo}/one`;
    for (
      const [method, tail, body] of [
        ["GET", ""],
        ["GET", "/diff"],
        ["POST", "/branch", { branch: "x" }],
        ["POST", "/activate"],
        ["POST", "/deactivate"],
        ["DELETE", ""],
      ] as const
    ) {
      const answer = await ship.ask(method, path + tail, { body });
      assert.deepEqual(
        [answer.status, error(answer)],
        [400, `path escapes the grid directory: ${repo}/one`],
        `${method} ${path}${tail}`,
      );
    }
  }
  const body = { url: ship.remote, repoName: "repo", name: "two", branch: "main" };
  const create = await ship.ask("POST", "/workspaces", { body });
  assert.deepEqual(
    [create.status, error(create)],
    [400, "path escapes the grid directory: repo/two"],
  );
  assert.deepEqual((await ship.ask("GET", "/workspaces")).json, []);
  assert.equal(await Deno.readTextFile(join(outside, "canary")), "alive");
  await Deno.stat(join(outside, "one", ".git"));
});

Deno.test("ship routes: unknown paths, wrong methods, HEAD, sockets without an upgrade", async () => {
  await using ship = await TestShip.start();
  for (const path of ["/", "/nowhere", "/workspaces/", "/workspaces/a/b/c", "/workspaces//one/x"]) {
    const answer = await ship.ask("GET", path);
    assert.deepEqual([answer.status, answer.json], [404, { error: "not found" }], path);
  }
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of Object.values(shipApi)) {
    methods.set(path, (methods.get(path) ?? new Set()).add(method));
  }
  for (const [path, allowed] of methods) {
    const concrete = path.replace(":repo", "repo").replace(":name", "one");
    const answer = await ship.ask("PATCH", concrete);
    assert.deepEqual([answer.status, error(answer)], [405, "method not allowed"], path);
    assert.equal(answer.headers.get("allow"), [...allowed].sort().join(", "), path);
  }
  const head = await ship.ask("HEAD", "/workspaces");
  assert.deepEqual([head.status, head.text], [200, ""]);
  const events = await ship.ask("GET", "/events");
  assert.equal(events.status, 426);
});

Deno.test("ship routes: a body over 1 MiB is refused", async () => {
  await using ship = await TestShip.start();
  const answer = await ship.ask("POST", "/workspaces", { body: "x".repeat(1024 * 1024 + 1) });
  assert.deepEqual([answer.status, error(answer)], [413, "request body too large"]);
});

Deno.test("ship routes: foreign origins, cross-site requests and foreign hosts are refused", async () => {
  await using ship = await TestShip.start({ bridgeToken: null });
  const ask = (headers: Record<string, string>) => ship.ask("GET", "/workspaces", { headers });
  assert.equal((await ask({ origin: "https://evil.example" })).status, 403);
  assert.equal((await ask({ origin: "null" })).status, 403);
  assert.equal((await ask({ "sec-fetch-site": "cross-site" })).status, 403);
  assert.equal((await ask({ origin: "https://allowed.example" })).status, 200);
  assert.equal((await ask({ origin: ship.url })).status, 200);
  const rebound = await raw(ship, "GET /workspaces HTTP/1.1", "evil.example");
  assert.match(rebound, /^HTTP\/1\.1 403 /);
  assert.match(rebound, /host not allowed: evil\.example/);
  await assert.rejects(ship.events({ headers: { origin: "https://evil.example" } }), /403/);
});

/** What the ship answers to a request line as it stands. */
function raw(ship: TestShip, line: string, host?: string): Promise<string> {
  const url = new URL(ship.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => text += chunk);
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
    const bearer = ship.bridgeToken === null ? "" : `Authorization: Bearer ${ship.bridgeToken}\r\n`;
    socket.write(`${line}\r\nHost: ${host ?? url.host}\r\n${bearer}Connection: close\r\n\r\n`);
  });
}

Deno.test("ship routes: the event-stream form of a create tells progress, then the result", async () => {
  await using ship = await TestShip.start();
  const create = async (name: string, url = ship.remote) => {
    const answer = await ship.ask("POST", "/workspaces", {
      body: { url, repoName: "repo", name, branch: "main" },
      headers: { accept: "text/event-stream" },
    });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/event-stream/);
    return answer.text.split("\n\n").map(parseEvent).filter((event) => event !== null);
  };
  const events = await create("one", `file://${ship.remote}`);
  const last = events.pop();
  assert.equal(last?.event, "result");
  assert.deepEqual(JSON.parse(last?.data ?? ""), {
    status: 201,
    body: { repoName: "repo", name: "one", branch: "main", active: false, agent: null },
  });
  assert.ok(events.length > 0);
  for (const { event, data } of events) {
    assert.equal(event, "progress");
    const progress = JSON.parse(data);
    assert.deepEqual(Object.keys(progress).sort(), ["done", "percent", "phase", "total"]);
  }
  assert.deepEqual((await create("one")).map(({ data }) => JSON.parse(data)), [
    { status: 409, body: { error: "workspace already exists: repo/one" } },
  ]);
});

Deno.test("ship routes: the events socket sends a snapshot, then every change, then 1001", async () => {
  const ship = await TestShip.start();
  try {
    await ship.create("one");
    await using events = await ship.events();
    const sync = await events.next();
    assert.equal(sync.ship, "ark");
    assert.deepEqual(sync.type === "sync" && sync.workspaces.map(({ name }) => name), ["one"]);
    events.send("ignored");
    await ship.create("two");
    await ship.ask("POST", "/workspaces/repo/two/branch", { body: { branch: "x" } });
    await ship.activate("two");
    await ship.ask("POST", "/workspaces/repo/two/deactivate");
    await ship.ask("DELETE", "/workspaces/repo/two");
    const seen: string[] = [];
    for (let index = 0; index < 5; index++) {
      const event = await events.next();
      if (event.type === "sync") throw new Error("a second sync");
      const { name, branch, active } = event.workspace;
      seen.push(`${event.type} ${name} ${branch} ${active}`);
    }
    assert.deepEqual(seen, [
      "workspace.created two main false",
      "workspace.branch_changed two x false",
      "workspace.activated two x true",
      "workspace.deactivated two x false",
      "workspace.removed two x false",
    ]);
    await ship[Symbol.asyncDispose]();
    assert.equal(await events.closed, 1001);
  } finally {
    await ship[Symbol.asyncDispose]();
  }
});

Deno.test("ship routes: a tmux server that dies is noticed, told once, and started anew", async () => {
  await using ship = await TestShip.start();
  await ship.create("one");
  await ship.activate("one");
  const token = await ship.mcpToken("one");
  await using events = await ship.events();
  await events.next();
  await ship.killTmux();
  assert.equal(((await ship.ask("GET", one)).json as { state: string }).state, "inactive");
  assert.equal((await events.next()).type, "workspace.deactivated");
  assert.equal((await ship.ask("GET", `${one}/mcp`, { token })).status, 401);
  await ship.activate("one");
  assert.equal((await events.next()).type, "workspace.activated");
});
