import assert from "node:assert/strict";
import { join } from "node:path";
import { exists, failureOf, git, idOf, makeGrid } from "../support/grid_support.ts";

const id = idOf("repo", "one");
const body = (url: string, branch: string, name = "one", repoName = "repo") => ({
  url,
  repoName,
  name,
  branch,
});

Deno.test("create checks out a branch of the remote, and tells it", async () => {
  await using grid = await makeGrid();
  const phases: string[] = [];
  const made = await grid.workspaces.create(
    body(grid.remote, "  feat/x "),
    (progress) => phases.push(progress.phase),
  );
  assert.deepEqual(made, { ...id, branch: "feat/x", active: false, agent: null });
  assert.deepEqual(await grid.workspaces.list(), [made]);
  assert.deepEqual(grid.events.map((event) => event.type), ["workspace.created"]);
  assert.deepEqual(grid.events[0]?.workspace, made);
  assert.ok(phases.includes("Receiving objects"), phases.join());
  const directory = join(grid.gridDirectory, "repo", "one");
  assert.equal((await git(directory, "rev-parse", "--abbrev-ref", "@{u}")).trim(), "origin/feat/x");
  assert.deepEqual(
    await Array.fromAsync(Deno.readDir(join(grid.gridDirectory, ".grid-trash"))),
    [],
  );
});

Deno.test("create makes a missing branch off the remote's HEAD, without upstream, unpushed", async () => {
  await using grid = await makeGrid();
  // `x` is no branch though `feat/x` is: refs are compared exactly.
  await grid.workspaces.create(body(`file://${grid.remote}`, "x"));
  const directory = join(grid.gridDirectory, "repo", "one");
  assert.equal((await git(directory, "symbolic-ref", "HEAD")).trim(), "refs/heads/x");
  await assert.rejects(git(directory, "rev-parse", "@{u}"));
  assert.ok(!(await git(grid.remote, "branch")).includes(" x\n"));
});

Deno.test("create leaves a tag detached, and such a workspace holds no work", async () => {
  await using grid = await makeGrid();
  const made = await grid.workspaces.create(body(grid.remote, "v1"));
  assert.equal(made.branch, (await git(grid.remote, "rev-parse", "v1")).slice(0, 7));
  await grid.workspaces.remove(id, false);
  assert.deepEqual(await grid.workspaces.list(), []);
});

Deno.test("[noRemoteHead] a remote without commits gives nothing to branch from", async () => {
  await using grid = await makeGrid();
  const empty = join(grid.root, "empty.git");
  await git(grid.root, "init", "-q", "--bare", empty);
  const failure = await failureOf("noRemoteHead", () => grid.workspaces.create(body(empty, "x")));
  assert.equal(failure.status, 400);
  assert.ok(!await exists(join(grid.gridDirectory, "repo")));
});

Deno.test("[cloneFailed] a failed clone leaves nothing, not even the repo directory it made", async () => {
  await using grid = await makeGrid();
  const gone = join(grid.root, "gone.git");
  const failure = await failureOf("cloneFailed", () => grid.workspaces.create(body(gone, "main")));
  assert.match(failure.message, /gone.git: .*does not appear to be a git repository/);
  assert.ok(!failure.message.includes("\n"));
  assert.ok(!await exists(join(grid.gridDirectory, "repo")));
  assert.deepEqual(grid.events, []);
  await grid.workspaces.create(body(grid.remote, "main"));
});

Deno.test("[cleanupFailed] a claim that cannot be given back names both failures", async () => {
  // A git in whose clone somebody exchanges the claim for a file of theirs, and which then fails.
  const meddler = async (root: string) => {
    const claim = join(root, "grid", "repo", "one");
    const path = join(root, "git-and-meddler");
    const script = `#!/bin/sh
case " $* " in *" clone "*) rmdir '${claim}' && echo mine >'${claim}'; exit 1 ;; esac
exec git "$@"
`;
    await Deno.writeTextFile(path, script, { mode: 0o755 });
    return path;
  };
  await using grid = await makeGrid({ gitProgram: meddler });
  const failure = await failureOf(
    "cleanupFailed",
    () => grid.workspaces.create(body(grid.remote, "main")),
  );
  assert.equal(failure.status, 500);
  assert.match(failure.message, /could not clone .*; and cleaning up failed too: /);
  assert.equal(
    await Deno.readTextFile(join(grid.gridDirectory, "repo", "one")),
    "mine\n",
    "what somebody else put there is left alone",
  );
});

Deno.test("[workspaceExists] [workspaceNameCollides] taken and colliding names are refused", async () => {
  await using grid = await makeGrid();
  await Deno.mkdir(join(grid.gridDirectory, "repo", "caf\u00e9"), { recursive: true });
  const refused = async (
    code: "workspaceExists" | "workspaceNameCollides",
    repo: string,
    name: string,
  ) => await failureOf(code, () => grid.workspaces.create(body(grid.remote, "main", name, repo)));
  assert.equal((await refused("workspaceExists", "repo", "caf\u00e9")).status, 409);
  await refused("workspaceNameCollides", "repo", "cafe\u0301");
  await refused("workspaceNameCollides", "repo", "CAF\u00c9");
  await refused("workspaceNameCollides", "Repo", "other");
  assert.ok(!await exists(join(grid.gridDirectory, "Repo")));
});

Deno.test("two creates of one name, or of colliding ones: one wins", async () => {
  await using grid = await makeGrid();
  const results = await Promise.allSettled(
    ["one", "ONE", "One", "one"].map((name) =>
      grid.workspaces.create(body(grid.remote, "main", name))
    ),
  );
  assert.equal(results.filter((result) => result.status === "fulfilled").length, 1);
  assert.equal((await grid.workspaces.list()).length, 1);
});

Deno.test("[invalidRepoIdentifier] [invalidWorkspaceIdentifier] [invalidCreateRequest] [emptyBranch]", async () => {
  await using grid = await makeGrid({ protocols: ["https"] });
  const url = "https://127.0.0.1:1/x";
  const create = (...args: Parameters<typeof body>) => () => grid.workspaces.create(body(...args));
  await failureOf("invalidRepoIdentifier", create(url, "main", "one", ".."));
  await failureOf("invalidWorkspaceIdentifier", create(url, "main", "a/b"));
  await failureOf("emptyBranch", create(url, " \t"));
  await failureOf("invalidCreateRequest", create(grid.remote, "main"));
  await failureOf("invalidCreateRequest", create(url, "main", "one", ".grid-trash"));
  await failureOf("invalidCreateRequest", create(url, "main", "one", ".Grid-x"));
  await failureOf("invalidCreateRequest", create(url, "main", ".git"));
  assert.deepEqual(await Array.fromAsync(Deno.readDir(grid.gridDirectory)), []);
});

Deno.test("[branchNotCreated] names that are no branch are refused before anything is made", async () => {
  await using grid = await makeGrid();
  const names = [
    "-x",
    "--upload-pack=touch",
    "HEAD",
    "@",
    "@{-1}",
    "a..b",
    "a b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[",
    "a\\b",
    "a.lock",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a@{0}",
    "a\u0007",
    "a\u0000b",
  ];
  for (const name of names) {
    const failure = await failureOf(
      "branchNotCreated",
      () => grid.workspaces.create(body(grid.remote, name)),
    );
    assert.equal(failure.status, 400, name);
  }
  assert.deepEqual(await Array.fromAsync(Deno.readDir(grid.gridDirectory)), []);
  await grid.workspaces.create(body(grid.remote, "main"));
  for (const name of names) {
    await failureOf("branchNotCreated", () => grid.workspaces.switchBranch(id, name));
  }
  const blocked = await failureOf(
    "branchNotCreated",
    () => grid.workspaces.switchBranch(id, "main/below"),
  );
  assert.match(blocked.message, /^could not create branch "main\/below": .*refs\/heads\/main/);
});

Deno.test("switching takes a local branch, the remote's or a new one", async () => {
  await using grid = await makeGrid();
  await grid.workspaces.create(body(grid.remote, "main"));
  const directory = join(grid.gridDirectory, "repo", "one");
  for (const branch of ["other", "new/one", "main"]) await grid.workspaces.switchBranch(id, branch);
  assert.equal((await grid.workspaces.find(id)).branch, "main");
  assert.equal(
    (await git(directory, "rev-parse", "--abbrev-ref", "other@{u}")).trim(),
    "origin/other",
  );
  await assert.rejects(git(directory, "rev-parse", "new/one@{u}"));
  assert.deepEqual(
    grid.events.slice(1).map((event) => [event.type, event.workspace.branch]),
    ["other", "new/one", "main"].map((branch) => ["workspace.branch_changed", branch]),
  );
  await failureOf("emptyBranch", () => grid.workspaces.switchBranch(id, "  "));
});

Deno.test("[branchNotCreated] local changes that a switch would overwrite are named", async () => {
  await using grid = await makeGrid();
  await grid.workspaces.create(body(grid.remote, "main"));
  const directory = join(grid.gridDirectory, "repo", "one");
  await git(directory, "checkout", "-q", "-b", "changed");
  await Deno.writeTextFile(join(directory, "README"), "three\n");
  await git(directory, "commit", "-qam", "changed");
  await Deno.writeTextFile(join(directory, "README"), "four\n");
  const failure = await failureOf(
    "branchNotCreated",
    () => grid.workspaces.switchBranch(id, "main"),
  );
  assert.match(failure.message, /would be overwritten by checkout: README/);
});

Deno.test("[workspaceNotActive] [workspaceAlreadyActive] [workspaceNotFound] a session's life", async () => {
  await using grid = await makeGrid();
  const { workspaces } = grid;
  await failureOf("workspaceNotFound", () => workspaces.activate(id));
  await failureOf("workspaceNotFound", () => workspaces.get(id));
  await failureOf("workspaceNotFound", () => workspaces.switchBranch(id, "x"));
  await failureOf("workspaceNotFound", () => workspaces.remove(id, undefined));
  await workspaces.create(body(grid.remote, "main"));
  await failureOf("workspaceNotActive", () => workspaces.deactivate(id));
  await workspaces.activate(id);
  await failureOf("workspaceAlreadyActive", () => workspaces.activate(id));
  const [session] = grid.sessions.running.values();
  assert.equal(session?.directory, join(grid.gridDirectory, "repo", "one"));
  assert.deepEqual(session?.environment, {
    GRID_REPO: "repo",
    GRID_WORKSPACE: "one",
    GRID_SHIP: "ark",
    GRID_MCP_URL: "http://127.0.0.1:1/workspaces/repo/one/mcp",
    GRID_MCP_TOKEN: grid.tokens.tokens.get("repo/one"),
  });
  assert.deepEqual((await workspaces.list(true)).length, 1);
  assert.deepEqual((await workspaces.list(false)).length, 0);
  await workspaces.deactivate(id);
  assert.equal(grid.tokens.tokens.size, 0);
  assert.deepEqual(grid.events.map((event) => event.type), [
    "workspace.created",
    "workspace.activated",
    "workspace.deactivated",
  ]);
});

Deno.test("an active workspace tells its diff against HEAD and its commits ahead", async () => {
  await using grid = await makeGrid();
  await grid.workspaces.create(body(grid.remote, "main"));
  await grid.workspaces.activate(id);
  const directory = join(grid.gridDirectory, "repo", "one");
  await git(directory, "commit", "-qm", "ahead", "--allow-empty");
  await Deno.writeTextFile(join(directory, "README"), "one\n2\n3\n");
  await Deno.writeFile(join(directory, "binary"), new Uint8Array([0, 1, 2]));
  await git(directory, "add", "binary");
  const status = await grid.workspaces.get(id);
  assert.equal(status.state, "active");
  assert.deepEqual(status.state === "active" && status.diff, { added: 2, removed: 1, commits: 1 });
});

Deno.test("sessions that vanish are noticed at the next look, once each", async () => {
  await using grid = await makeGrid();
  const { workspaces } = grid;
  await workspaces.create(body(grid.remote, "main"));
  await workspaces.create(body(grid.remote, "main", "two"));
  await workspaces.activate(id);
  await workspaces.activate(idOf("repo", "two"));
  grid.agents.statuses.set("repo/one", {
    state: "idle",
    description: "",
    model: "m",
    provider: "p",
    harness: "h",
  });
  assert.equal((await workspaces.find(id)).agent?.model, "m");
  grid.events.length = 0;
  grid.sessions.die();
  const looks = await Promise.all([workspaces.list(), workspaces.get(id), workspaces.list()]);
  assert.ok(looks[0].every((one) => !one.active && one.agent === null));
  assert.deepEqual(
    grid.events.map((event) => `${event.type} ${event.workspace.name}`).sort(),
    ["workspace.deactivated one", "workspace.deactivated two"],
  );
  assert.equal(grid.tokens.tokens.size, 0);
  await workspaces.activate(id);
  assert.equal((await workspaces.get(id)).state, "active");
});

Deno.test("a session that vanished before activate, deactivate or delete is told too", async () => {
  await using grid = await makeGrid();
  const { workspaces } = grid;
  await workspaces.create(body(grid.remote, "main"));
  await workspaces.activate(id);
  grid.sessions.die();
  await workspaces.activate(id);
  grid.sessions.die();
  await failureOf("workspaceNotActive", () => workspaces.deactivate(id));
  assert.deepEqual(grid.events.slice(1).map((event) => event.type), [
    "workspace.activated",
    "workspace.deactivated",
    "workspace.activated",
    "workspace.deactivated",
  ]);
});

Deno.test("[workspaceBusy] a delete during a create is refused; the create is not", async () => {
  await using grid = await makeGrid();
  const created = grid.workspaces.create(body(grid.remote, "main"));
  let refused = 0;
  const done = created.then(() => true);
  while (
    !await Promise.race([
      done,
      new Promise((resolve) => setTimeout(() => resolve(false), 1)),
    ])
  ) {
    await grid.workspaces.remove(id, undefined).catch((thrown) => {
      assert.ok(["workspaceBusy", "workspaceNotFound"].includes(thrown.code), String(thrown));
      if (thrown.code === "workspaceBusy") refused += 1;
    });
  }
  assert.ok(refused > 0);
  assert.equal((await grid.workspaces.list()).length, 1);
});

Deno.test("what a crash left behind is swept, an empty claim given back", async () => {
  await using grid = await makeGrid();
  const trash = join(grid.gridDirectory, ".grid-trash");
  const claimed = join(grid.gridDirectory, "repo", "one");
  await Deno.mkdir(join(trash, "stage", "deep"), { recursive: true });
  await Deno.mkdir(claimed, { recursive: true });
  await Deno.writeTextFile(join(trash, "stage.claim"), claimed);
  await Deno.writeTextFile(join(trash, "other.claim"), grid.root);
  await grid.workspaces.start();
  assert.deepEqual(await Array.fromAsync(Deno.readDir(trash)), []);
  assert.ok(!await exists(claimed));
  assert.deepEqual(await grid.workspaces.list(), []);
});
