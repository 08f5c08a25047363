import assert from "node:assert/strict";
import { join } from "node:path";
import { exists, git, type Grid, idOf, makeGrid, textOf } from "../support/grid_support.ts";

const id = idOf("repo", "one");
const untouched = async (grid: Grid) => assert.deepEqual(await markers(grid), []);
const markers = async (grid: Grid) =>
  (await Array.fromAsync(Deno.readDir(grid.root))).map(({ name }) => name)
    .filter((name) => name.startsWith("MARKER"));

/** Everything a clone can carry that makes plain git run a program. */
async function poison(grid: Grid, directory: string): Promise<void> {
  const dotGit = join(directory, ".git");
  const run = (what: string) => `touch ${join(grid.root, `MARKER-${what}`)}`;
  for (
    const hook of [
      "post-checkout",
      "post-index-change",
      "reference-transaction",
      "pre-auto-gc",
      "post-merge",
      "fsmonitor-watchman",
    ]
  ) {
    const path = join(dotGit, "hooks", hook);
    await Deno.mkdir(join(dotGit, "hooks"), { recursive: true });
    await Deno.writeTextFile(path, `#!/bin/sh\n${run(`hook-${hook}`)}\n`);
    await Deno.chmod(path, 0o755);
  }
  const included = join(dotGit, "included");
  await Deno.writeTextFile(included, `[filter "incl"]\n\tclean = ${run("included")} && cat\n`);
  await Deno.writeTextFile(
    join(dotGit, "config"),
    `
[core]
	fsmonitor = ${run("fsmonitor")}
	hooksPath = ${join(dotGit, "hooks")}
	sshCommand = ${run("ssh")}
	pager = ${run("pager")}
	editor = ${run("editor")}
	askPass = ${run("askpass")}
	alternateRefsCommand = ${run("alternates")}
	gitProxy = ${run("proxy")}
	attributesFile = ${join(dotGit, "attributes")}
[credential]
	helper = !${run("credential")}
[diff]
	external = ${run("external")}
	submodule = log
	orderFile = ${join(dotGit, "missing")}
[diff "evil"]
	command = ${run("driver")}
	textconv = ${run("textconv")}
[filter "evil"]
	clean = ${run("clean")} && cat
	smudge = ${run("smudge")} && cat
	required = true
[filter "Odd.Na me"]
	process = ${run("process")}
	required = true
[merge "evil"]
	driver = ${run("merge")}
[gpg]
	program = ${run("gpg")}
[log]
	showSignature = true
[status]
	submoduleSummary = true
[submodule]
	recurse = true
[alias]
	status = !${run("alias")}
	diff = !${run("alias")}
[remote "origin"]
	url = ext::sh -c ${run("ext")}
	uploadpack = ${run("uploadpack")}
	promisor = true
[extensions]
	partialClone = origin
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[gc]
	auto = 1
[include]
	path = ${included}
`,
    { append: true },
  );
  await Deno.writeTextFile(
    join(directory, ".gitattributes"),
    "README diff=evil filter=evil merge=evil\n*.odd filter=Odd.Na\\ me\n*.new diff=evil filter=incl\n",
  );
  await Deno.mkdir(join(dotGit, "info"), { recursive: true });
  await Deno.writeTextFile(join(dotGit, "info", "attributes"), "* diff=evil filter=evil\n");
  await Deno.writeTextFile(join(dotGit, "attributes"), "* diff=evil filter=evil\n");
  await Deno.writeTextFile(join(directory, "README"), "changed\n");
  await Deno.writeTextFile(join(directory, "a.new"), "new\n");
  await Deno.writeTextFile(join(directory, "a.odd"), "odd\n");
}

Deno.test("a poisoned clone runs nothing, whatever is asked of it", async () => {
  await using grid = await makeGrid();
  const { workspaces } = grid;
  await workspaces.create({ url: grid.remote, repoName: "repo", name: "one", branch: "main" });
  const directory = join(grid.gridDirectory, "repo", "one");
  // Two branches that differ in README, so that switching smudges.
  await git(directory, "checkout", "-q", "-b", "clean");
  await Deno.writeTextFile(join(directory, "README"), "clean\n");
  await git(directory, "commit", "-qam", "clean");
  await poison(grid, directory);
  // The poison is real: plain git does run it.
  await git(directory, "-c", "core.pager=cat", "status").catch(() => {});
  assert.ok((await markers(grid)).length > 0);
  for (const name of await markers(grid)) await Deno.remove(join(grid.root, name));

  assert.equal((await workspaces.list())[0]?.branch, "clean");
  await untouched(grid);
  await workspaces.activate(id);
  const status = await workspaces.get(id);
  assert.equal(status.state === "active" && status.diff.added, 1);
  await untouched(grid);
  for (
    const query of [
      {},
      { staged: true },
      { stat: true },
      { nameOnly: true },
      { includeUntracked: true },
      { range: "main" },
      { range: "main...clean" },
      { paths: ["README"], includeUntracked: true },
    ]
  ) await textOf(await workspaces.diff(id, query));
  await untouched(grid);
  await assert.rejects(workspaces.remove(id, false), /uncommitted files.*unpushed/);
  await untouched(grid);
  await Deno.writeTextFile(join(directory, "README"), "clean\n");
  await workspaces.switchBranch(id, "main");
  await workspaces.switchBranch(id, "fresh");
  await untouched(grid);
  // A missing object would be fetched from the promisor remote.
  const blob = (await git(grid.remote, "rev-parse", "main:README")).trim();
  await Deno.remove(join(directory, ".git", "objects", blob.slice(0, 2), blob.slice(2))).catch(
    () => {},
  );
  for await (const entry of Deno.readDir(join(directory, ".git", "objects", "pack"))) {
    await Deno.remove(join(directory, ".git", "objects", "pack", entry.name));
  }
  await workspaces.diff(id, { range: "main" }).then(textOf, () => {});
  await workspaces.get(id).catch(() => {});
  await untouched(grid);
  await workspaces.remove(id, undefined);
  await untouched(grid);
  assert.ok(!await exists(directory));
});

Deno.test("a hostile remote's own hooks, attributes and submodules run nothing while it is cloned", async () => {
  await using grid = await makeGrid();
  const seed = join(grid.root, "seed");
  await Deno.writeTextFile(join(seed, ".gitattributes"), "* filter=evil diff=evil\n");
  await Deno.writeTextFile(
    join(seed, ".gitmodules"),
    `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% ${
      join(grid.root, "MARKER-sub")
    }\n\tupdate = !touch ${join(grid.root, "MARKER-update")}\n`,
  );
  await git(seed, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},x`);
  await git(seed, "add", ".gitattributes", ".gitmodules");
  await git(seed, "commit", "-qm", "hostile");
  await git(seed, "push", "-q", grid.remote, "main");
  await grid.workspaces.create({ url: grid.remote, repoName: "repo", name: "one", branch: "main" });
  await grid.workspaces.remove(id, false);
  await untouched(grid);
});
