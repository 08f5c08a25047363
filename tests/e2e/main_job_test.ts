/** The main job, with everything a process of its own: `grid up`, its daemons, and every command. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  eventually,
  GridProcess,
  Place,
  processes,
  repositoryRoot,
  runGrid,
} from "../support/grid_process.ts";
import { git } from "../support/grid_support.ts";

/** Reports as the agent of a session would, with what the session knows. */
async function report(session: Readonly<Record<string, string>>): Promise<void> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(session["GRID_MCP_URL"] ?? ""), {
      requestInit: { headers: { authorization: `Bearer ${session["GRID_MCP_TOKEN"]}` } },
    }),
  );
  try {
    for (
      const [name, input] of [
        ["agent_init", { model: "m", provider: "p", harness: "h" }],
        ["agent_status", { state: "building", description: "a shop" }],
      ] as const
    ) {
      const result = await client.callTool({ name, arguments: input });
      assert.ok(result.isError !== true, JSON.stringify(result));
    }
  } finally {
    await client.close();
  }
}

Deno.test("e2e: the main job through the command line", async () => {
  await using place = await Place.make();
  const remote = await place.makeRemote();
  await using grid = await GridProcess.up(place, ["ark", "barge"]);

  const repo = await grid.json("repo", "add", "shop", remote) as { name: string };
  assert.equal(repo.name, "shop");
  const branches = await grid.json("repo", "branches", "shop") as { name: string }[];
  assert.deepEqual(branches.map(({ name }) => name), ["feat/x", "main", "other"]);

  // The events command runs beside everything that follows.
  const { daemon: events, lines } = await grid.begin("events", "--limit", "9", "--json");
  await using _events = events;
  await eventually("the events begin", () => Promise.resolve(lines.length > 0));

  const made = await grid.json("new", "shop", "tax", "--ship", "ark", "--branch", "feat/x");
  assert.deepEqual(made, {
    repoName: "shop",
    name: "tax",
    branch: "feat/x",
    active: false,
    agent: null,
    ship: "ark",
    ephemeral: null,
  });
  const text = await grid.run("new", "shop", "search", "--ship", "barge");
  assert.match(text.stdout, /created shop\/search on barge, branch search/);

  await grid.json("activate", "tax");
  const session = await place.sessionEnvironment("tax");
  assert.equal(session["GRID_SHIP"], "ark");
  await report(session);

  const listed = await grid.json("ls") as { name: string; active: boolean; agent: unknown }[];
  assert.deepEqual(listed.map(({ name, active }) => [name, active]), [
    ["search", false],
    ["tax", true],
  ]);
  const directory = place.at("grid", "ark", "shop", "tax");
  await Deno.writeTextFile(join(directory, "README"), "one\nTWO\n");
  const shown = await grid.json("show", "shop/tax") as Record<string, unknown>;
  assert.deepEqual([shown["state"], shown["ship"], shown["diff"]], ["active", "ark", {
    added: 1,
    removed: 1,
    commits: 0,
  }]);
  assert.deepEqual(shown["agent"], {
    state: "building",
    description: "a shop",
    model: "m",
    provider: "p",
    harness: "h",
  });
  assert.match((await grid.run("diff", "tax")).stdout, /^\+TWO$/m);
  assert.match((await grid.run("diff", "tax", "--stat")).stdout, /README \| 2 \+-/);
  await git(directory, "checkout", "-q", "README");

  await grid.json("switch", "tax", "topic");
  assert.equal((await git(directory, "branch", "--show-current")).trim(), "topic");
  await grid.json("deactivate", "tax");
  assert.equal((await place.tmux("list-sessions")).trim(), "");
  await grid.json("rm", "tax", "--yes");
  assert.deepEqual(
    (await grid.json("ls") as { name: string }[]).map(({ name }) => name),
    ["search"],
  );
  await assert.rejects(Deno.stat(directory), Deno.errors.NotFound);
  const gone = await grid.run("show", "shop/tax");
  assert.notEqual(gone.code, 0);
  assert.match(gone.stderr, /workspace not found: shop\/tax/);

  assert.equal((await events.ended).code, 0);
  const frames = lines.map((line) => JSON.parse(line));
  assert.deepEqual(frames.map(({ type, workspace }) => `${type} ${workspace?.name ?? ""}`.trim()), [
    "sync",
    "workspace.created tax",
    "workspace.created search",
    "workspace.activated tax",
    "workspace.agent_status_changed tax",
    "workspace.agent_status_changed tax",
    "workspace.branch_changed tax",
    "workspace.deactivated tax",
    "sync",
  ]);
  const status = await grid.run("status");
  assert.match(status.stdout, /2 online/);
});

Deno.test("e2e: TERM ends everything but the sessions, and the next start finds them again", async () => {
  await using place = await Place.make();
  const remote = await place.makeRemote();
  {
    await using grid = await GridProcess.up(place);
    await grid.ask("POST", "/repos", { name: "shop", url: remote });
    for (const name of ["one", "two"]) {
      await grid.ask("POST", "/workspaces", {
        ship: "ark",
        repoName: "shop",
        name,
        branch: "main",
      });
    }
    await grid.ask("POST", "/workspaces/shop/one/activate");
    const daemons = [...await grid.pids("bridge"), ...await grid.pids("ship")];
    assert.equal(daemons.length, 2);
    assert.equal(await grid.stop(), 0);
    const left = (await processes()).filter(({ command, environment }) =>
      (command + environment).includes(place.root) && !command.startsWith("tmux") &&
      !command.startsWith("/usr/bin/tmux") && !environment.includes("GRID_WORKSPACE=one")
    );
    assert.deepEqual(left, []);
    assert.equal((await place.tmux("list-sessions")).trim().split("\n").length, 1);
  }
  await using grid = await GridProcess.up(place);
  const listed = await grid.ask("GET", "/workspaces") as { name: string; active: boolean }[];
  assert.deepEqual(listed.map(({ name, active }) => [name, active]), [["one", true], [
    "two",
    false,
  ]]);
  assert.deepEqual((await grid.ask("GET", "/repos") as { name: string }[]).map((r) => r.name), [
    "shop",
  ]);
  await grid.ask("POST", "/workspaces/shop/one/deactivate");
});

const endings = [
  // The terminal sends it to everybody, and `npx` and `deno task` pass theirs on.
  ["one Ctrl-C that comes several times", ["SIGINT", "SIGINT"]],
  ["a window that is closed", ["SIGHUP"]],
] as const;
for (const [what, signals] of endings) {
  Deno.test(`e2e: ${what} ends both daemons, in peace`, async () => {
    await using place = await Place.make();
    await using grid = await GridProcess.up(place);
    const daemons = [...await grid.pids("bridge"), ...await grid.pids("ship")];
    assert.equal(daemons.length, 2);
    for (const signal of signals) {
      Deno.kill(grid.daemon.pid, signal);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal((await grid.daemon.ended).code, 0);
    const left = (await processes()).filter(({ pid }) => daemons.includes(pid));
    assert.deepEqual(left, []);
  });
}

Deno.test("e2e: a ship that dies is started again, and said so", async () => {
  await using place = await Place.make();
  await using grid = await GridProcess.up(place);
  const [pid] = await grid.pids("ship");
  assert.ok(pid !== undefined);
  Deno.kill(pid, "SIGKILL");
  const kinds = () => grid.lines.map((line) => JSON.parse(line).kind);
  await eventually("the death is told", () => Promise.resolve(kinds().includes("died")));
  await eventually("the restart is told", () => Promise.resolve(kinds().includes("restarted")));
  await eventually("the ship is online again", async () => {
    const [ship] = await grid.ask("GET", "/ships") as { status: string }[];
    return ship?.status === "online";
  });
});

Deno.test("e2e: the demo shows the tour, ends by itself and leaves nothing", async () => {
  await using place = await Place.make();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "demo", "--once"],
    cwd: repositoryRoot,
    clearEnv: true,
    env: place.environment({ PATH: `${join(Deno.execPath(), "..")}:/usr/bin:/bin` }),
    stdin: "null",
  }).output();
  const said = new TextDecoder().decode(stdout);
  assert.equal(code, 0, new TextDecoder().decode(stderr) + said);
  for (const command of ["repo add", "new", "activate", "events", "ls", "show", "diff", "status"]) {
    assert.match(said, new RegExp(`^\\$ grid ${command}`, "m"));
  }
  assert.match(said, /checkout-tax.*verifying/);
  // Deno keeps its own files (an npm cache marker) in the home; the demo's place is TMPDIR.
  assert.deepEqual(await Array.fromAsync(Deno.readDir(place.at("tmp"))), []);
  const left = (await processes()).filter(({ command, environment }) =>
    (command + environment).includes(place.root)
  );
  assert.deepEqual(left, []);
});

Deno.test("e2e: a missing program is one sentence that names its package", async () => {
  await using place = await Place.make();
  for (const missing of ["git", "tmux"]) {
    const bin = place.at("bin", missing);
    await Deno.mkdir(bin);
    for (const name of ["git", "tmux", "script", "timeout", "stty", "ln"]) {
      if (name !== missing) await Deno.symlink(`/usr/bin/${name}`, join(bin, name));
    }
    const { code, stderr, stdout } = await runGrid(place, ["up"], { PATH: bin });
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(
      stderr,
      new RegExp(`^.*${missing} is missing: install it with .apt install ${missing}.*\n$`),
    );
  }
});
