import assert from "node:assert/strict";
import { join } from "node:path";
import { exists, failureOf, git, type Grid, idOf, makeGrid } from "../support/grid_support.ts";

async function clone(grid: Grid, repo: string, name: string): Promise<string> {
  const directory = join(grid.gridDirectory, repo, name);
  await Deno.mkdir(join(grid.gridDirectory, repo), { recursive: true });
  await git(grid.root, "clone", "-q", grid.remote, directory);
  return directory;
}

const branches = async (grid: Grid) =>
  (await grid.workspaces.list()).map(({ repoName, name, branch }) =>
    `${repoName}/${name} ${branch}`
  );

Deno.test("branches are read as git would tell them: plain, packed, detached, unborn, linked, odd", async () => {
  await using grid = await makeGrid();
  await clone(grid, "repo", "plain");
  const packed = await clone(grid, "repo", "packed");
  await git(packed, "checkout", "-q", "-b", "deep/er");
  await git(packed, "pack-refs", "--all");
  const detached = await clone(grid, "repo", "detached");
  await git(detached, "checkout", "-q", "--detach");
  const unborn = await clone(grid, "repo", "unborn");
  await git(unborn, "checkout", "-q", "--orphan", "nothing/yet");
  const linked = await clone(grid, "repo", "linked");
  await Deno.remove(join(linked, ".git", "HEAD"));
  await Deno.symlink("refs/heads/main", join(linked, ".git", "HEAD"));
  const odd = await clone(grid, "repo", "odd");
  await git(odd, "update-ref", "refs/odd/place", "HEAD");
  await git(odd, "symbolic-ref", "HEAD", "refs/odd/place");
  const oid = (await git(detached, "rev-parse", "HEAD")).slice(0, 7);
  assert.deepEqual(await branches(grid), [
    `repo/detached ${oid}`,
    "repo/linked main",
    "repo/odd odd/place",
    "repo/packed deep/er",
    "repo/plain main",
    "repo/unborn nothing/yet",
  ]);
});

Deno.test("what is no working tree is left out, and is a 404", async () => {
  await using grid = await makeGrid();
  const real = await clone(grid, "repo", "real");
  const repo = join(grid.gridDirectory, "repo");
  await git(real, "worktree", "add", "-q", "--detach", join(repo, "gitfile"));
  await git(real, "worktree", "prune");
  await Deno.symlink(real, join(repo, "alias"));
  await Deno.mkdir(join(repo, "empty"));
  await Deno.mkdir(join(repo, "hollow", ".git"), { recursive: true });
  await Deno.mkdir(join(repo, "linkgit"));
  await Deno.symlink(join(real, ".git"), join(repo, "linkgit", ".git"));
  await Deno.writeTextFile(join(repo, "file"), "");
  const bare = await clone(grid, "repo", "bare");
  await git(bare, "config", "core.bare", "true");
  const moved = await clone(grid, "repo", "moved");
  await git(moved, "config", "core.worktree", real);
  const common = await clone(grid, "repo", "common");
  await Deno.writeTextFile(join(common, ".git", "commondir"), join(real, ".git"));
  const pipe = await clone(grid, "repo", "pipe");
  await Deno.remove(join(pipe, ".git", "HEAD"));
  await new Deno.Command("mkfifo", { args: [join(pipe, ".git", "HEAD")] }).output();
  await Deno.symlink(repo, join(grid.gridDirectory, "repolink"));
  await Deno.writeTextFile(join(grid.gridDirectory, "atlas.json"), "{}");
  assert.deepEqual(await branches(grid), ["repo/real main"]);
  for (
    const name of [
      "gitfile",
      "alias",
      "empty",
      "hollow",
      "linkgit",
      "file",
      "bare",
      "moved",
      "common",
      "pipe",
      "gone",
    ]
  ) {
    const failure = await failureOf(
      "workspaceNotFound",
      () => grid.workspaces.get(idOf("repo", name)),
    );
    assert.equal(failure.message, `workspace not found: repo/${name}`);
    await failureOf(
      "workspaceNotFound",
      () => grid.workspaces.remove(idOf("repo", name), undefined),
    );
  }
  await failureOf("workspaceNotFound", () => grid.workspaces.get(idOf("repolink", "real")));
  assert.ok(await exists(join(real, "README")));
});

Deno.test("[escapesGridDirectory] a link out of the grid directory is refused by every operation", async () => {
  await using grid = await makeGrid();
  const outside = join(grid.root, "outside");
  await git(grid.root, "clone", "-q", grid.remote, join(outside, "one"));
  await Deno.symlink(outside, join(grid.gridDirectory, "away"));
  await Deno.mkdir(join(grid.gridDirectory, "repo"));
  await Deno.symlink(join(outside, "one"), join(grid.gridDirectory, "repo", "one"));
  assert.deepEqual(await branches(grid), []);
  for (const id of [idOf("away", "one"), idOf("repo", "one")]) {
    const { workspaces } = grid;
    for (
      const work of [
        () => workspaces.get(id),
        () => workspaces.diff(id, {}),
        () => workspaces.switchBranch(id, "x"),
        () => workspaces.activate(id),
        () => workspaces.deactivate(id),
        () => workspaces.remove(id, undefined),
      ]
    ) assert.equal((await failureOf("escapesGridDirectory", work)).status, 400);
  }
  await failureOf(
    "escapesGridDirectory",
    () =>
      grid.workspaces.create({ url: grid.remote, repoName: "away", name: "two", branch: "main" }),
  );
  assert.ok(await exists(join(outside, "one", "README")));
  assert.ok(!await exists(join(outside, "two")));
});

Deno.test("a thousand workspaces are listed from files alone", async () => {
  await using grid = await makeGrid({
    // A git that cannot run: the listing must not need one.
    gitProgram: () => Promise.resolve("/bin/false"),
  });
  const config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
  const expected: string[] = [];
  for (let index = 0; index < 1000; index++) {
    const [repo, name] = [`repo-${index % 10}`, `w${String(index).padStart(4, "0")}`];
    const dotGit = join(grid.gridDirectory, repo, name, ".git");
    Deno.mkdirSync(join(dotGit, "objects"), { recursive: true });
    Deno.mkdirSync(join(dotGit, "refs"));
    Deno.writeTextFileSync(join(dotGit, "HEAD"), `ref: refs/heads/b/${index}\n`);
    Deno.writeTextFileSync(join(dotGit, "config"), config);
    expected.push(`${repo}/${name} b/${index}`);
  }
  assert.deepEqual(await branches(grid), expected.sort());
  const start = performance.now();
  await grid.workspaces.list();
  console.log(`listed in ${Math.round(performance.now() - start)} ms`);
});

Deno.test("workspaces that vanish while they are listed are left out", async () => {
  await using grid = await makeGrid();
  for (const name of ["a", "b", "c"]) await clone(grid, "repo", name);
  const lists = Array.from({ length: 20 }, () => grid.workspaces.list());
  const removed = grid.workspaces.remove(idOf("repo", "b"), undefined);
  for (const list of await Promise.all(lists)) {
    assert.ok(list.every(({ name }) => ["a", "b", "c"].includes(name)) && list.length >= 2);
  }
  await removed;
  assert.deepEqual(await branches(grid), ["repo/a main", "repo/c main"]);
});
