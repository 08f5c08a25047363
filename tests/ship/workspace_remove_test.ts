import assert from "node:assert/strict";
import { join } from "node:path";
import { exists, failureOf, git, type Grid, idOf, makeGrid } from "../support/grid_support.ts";

const id = idOf("repo", "one");

async function workspace(grid: Grid, branch = "main"): Promise<string> {
  await grid.workspaces.create({ url: grid.remote, repoName: "repo", name: "one", branch });
  return join(grid.gridDirectory, "repo", "one");
}

/** `force=false` must refuse with 409, name what matches `found`, and leave the workspace as it is. */
async function refuses(grid: Grid, found: RegExp): Promise<void> {
  const failure = await failureOf("holdsWork", () => grid.workspaces.remove(id, false));
  assert.equal(failure.status, 409);
  assert.match(failure.message, /^workspace repo\/one holds work that is not on a remote: /);
  assert.match(failure.message, found);
  assert.ok(await exists(join(grid.gridDirectory, "repo", "one", ".git", "HEAD")));
}

type Prepare = (directory: string, grid: Grid) => Promise<void>;
const write = (path: string) => (directory: string) =>
  Deno.writeTextFile(join(directory, path), "x\n");

const held: readonly (readonly [what: string, found: RegExp, prepare: Prepare])[] = [
  ["an untracked file", /1 uncommitted file \(new\)/, write("new")],
  ["a changed file", /1 uncommitted file \(README\)/, write("README")],
  ["a staged file", /1 uncommitted file \(new\)/, async (directory) => {
    await write("new")(directory);
    await git(directory, "add", "new");
  }],
  [
    "files in a new directory, counted",
    /5 uncommitted files \(d\/0, d\/1, d\/2, …\)/,
    async (directory) => {
      await Deno.mkdir(join(directory, "d"));
      for (let n = 0; n < 5; n++) await write(`d/${n}`)(directory);
    },
  ],
  ["hidden untracked files", /1 uncommitted file/, async (directory) => {
    await git(directory, "config", "status.showUntrackedFiles", "no");
    await write("new")(directory);
  }],
  [
    "a change that git is told to overlook",
    /1 file that git is told to overlook \(README\)/,
    async (directory) => {
      await git(directory, "update-index", "--assume-unchanged", "README");
      await write("README")(directory);
    },
  ],
  ["a change marked skip-worktree", /told to overlook \(README\)/, async (directory) => {
    await git(directory, "update-index", "--skip-worktree", "README");
    await write("README")(directory);
  }],
  ["a commit", /1 unpushed commit$/, (directory) => commit(directory, 1)],
  ["commits on another branch", /2 unpushed commits/, async (directory) => {
    await git(directory, "checkout", "-q", "-b", "side");
    await commit(directory, 2);
    await git(directory, "checkout", "-q", "main");
  }],
  ["a commit on a detached HEAD", /1 unpushed commit/, async (directory) => {
    await git(directory, "checkout", "-q", "--detach");
    await commit(directory, 1);
  }],
  ["a clone without a remote", /1 unpushed commit/, async (directory) => {
    await git(directory, "remote", "remove", "origin");
  }],
  ["stashes", /2 stash entries/, async (directory) => {
    for (const text of "ab") {
      await Deno.writeTextFile(join(directory, "README"), text);
      await git(directory, "stash");
    }
  }],
  ["a merge under way", /an unfinished merge/, async (directory) => {
    await Deno.writeTextFile(
      join(directory, ".git", "MERGE_HEAD"),
      await git(directory, "rev-parse", "HEAD"),
    );
  }],
  [
    "a rebase under way",
    /an unfinished rebase/,
    (directory) => Deno.mkdir(join(directory, ".git", "rebase-merge")),
  ],
  ["another worktree", /other worktrees of this clone/, async (directory, grid) => {
    await git(directory, "worktree", "add", "-q", "--detach", join(grid.root, "side"));
  }],
  ["a filled submodule", /submodule.* could not be checked/, async (directory, grid) => {
    await git(
      directory,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "add",
      "-q",
      grid.remote,
      "sub",
    );
  }],
  ["an index that cannot be read", /uncommitted files could not be checked/, async (directory) => {
    await Deno.writeTextFile(join(directory, ".git", "index"), "no index");
  }],
  ["a broken configuration", /unpushed commits could not be checked/, async (directory) => {
    await Deno.writeTextFile(join(directory, ".git", "config"), "[broken\n");
  }],
  ["everything at once", /uncommitted.*unpushed.*stash/, async (directory) => {
    await write("README")(directory);
    await git(directory, "stash");
    await commit(directory, 1);
    await write("new")(directory);
  }],
];

async function commit(directory: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await git(directory, "commit", "-qm", `${n}`, "--allow-empty");
}

for (const [what, found, prepare] of held) {
  Deno.test(`[holdsWork] force=false refuses: ${what}`, async () => {
    await using grid = await makeGrid();
    await prepare(await workspace(grid), grid);
    await refuses(grid, found);
    await grid.workspaces.remove(id, what.startsWith("an") ? true : undefined);
    assert.ok(!await exists(join(grid.gridDirectory, "repo", "one")));
  });
}

Deno.test("force=false deletes what holds nothing: pushed work, ignored files", async () => {
  await using grid = await makeGrid();
  const directory = await workspace(grid, "feat/new");
  await Deno.writeTextFile(join(directory, ".gitignore"), "out/\n");
  await git(directory, "add", ".");
  await git(directory, "commit", "-qm", "pushed");
  await git(directory, "push", "-q", "origin", "HEAD");
  await Deno.mkdir(join(directory, "out"));
  await Deno.writeTextFile(join(directory, "out", "log"), "");
  await Deno.chmod(join(directory, "out"), 0o555);
  await grid.workspaces.remove(id, false);
  assert.deepEqual(await grid.workspaces.list(), []);
  assert.deepEqual(
    await Array.fromAsync(Deno.readDir(join(grid.gridDirectory, ".grid-trash"))),
    [],
  );
  const last = grid.events.at(-1);
  assert.equal(last?.type, "workspace.removed");
  assert.equal(last?.workspace.branch, "feat/new");
});

Deno.test("[holdsWork] work that the session leaves while it ends is found by the second check", async () => {
  await using grid = await makeGrid();
  const directory = await workspace(grid);
  await grid.workspaces.activate(id);
  grid.sessions.onStop = () => Deno.writeTextFile(join(directory, "last"), "words");
  await refuses(grid, /1 uncommitted file \(last\)/);
  assert.deepEqual(grid.events.map((event) => event.type), [
    "workspace.created",
    "workspace.activated",
    "workspace.deactivated",
  ]);
  assert.equal((await grid.workspaces.get(id)).state, "inactive");
  assert.equal(grid.tokens.tokens.size, 0);
});

Deno.test("an active workspace's delete ends its session, and tells one event", async () => {
  await using grid = await makeGrid();
  await workspace(grid);
  await grid.workspaces.activate(id);
  await grid.workspaces.remove(id, undefined);
  await grid.workspaces.list();
  assert.equal(grid.sessions.running.size, 0);
  assert.equal(grid.tokens.tokens.size, 0);
  assert.deepEqual(grid.events.slice(2).map((event) => event.type), ["workspace.removed"]);
});

/** The least that counts as a workspace. */
async function plant(directory: string): Promise<void> {
  for (const name of ["objects", "refs"]) {
    await Deno.mkdir(join(directory, ".git", name), { recursive: true });
  }
  await Deno.writeTextFile(join(directory, ".git", "HEAD"), "ref: refs/heads/main\n");
  await Deno.writeTextFile(join(directory, "file"), "precious");
}

const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 2));

/** Exchanges `path` for a link to `target` and back, over and over, until disposed; then it is back. */
function swapping(path: string, target: string): AsyncDisposable {
  let running = true;
  const aside = `${path}.aside`;
  // A delete may have taken the link just now and be about to return it: then it is taken off again.
  const putBack = async () => {
    for (let tries = 1;; tries += 1) {
      await Deno.remove(path).catch(() => {});
      try {
        return await Deno.rename(aside, path);
      } catch (thrown) {
        if (tries === 1_000) throw thrown;
        await pause();
      }
    }
  };
  const loop = (async () => {
    while (running) {
      await pause();
      if (!await Deno.rename(path, aside).then(() => true, () => false)) continue;
      // A delete that took an earlier link may have returned it already: then it stands there.
      await Deno.symlink(target, path).catch((thrown) => {
        if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
      });
      await pause();
      await putBack();
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      running = false;
      await loop;
    },
  };
}

for (const swapped of ["workspace", "repo"] as const) {
  Deno.test(`a ${swapped} directory exchanged for a link while deletes run: the canary survives`, async () => {
    await using grid = await makeGrid();
    const outside = join(grid.root, "outside");
    const repo = join(grid.gridDirectory, "repo");
    const [path, target] = swapped === "repo"
      ? [repo, outside]
      : [join(repo, "one"), join(outside, "one")];
    await plant(join(outside, "one"));
    let deleted = 0;
    // More rounds where the swaps won them all: the test must have seen deletes succeed.
    for (let round = 0; round < 40 || (deleted === 0 && round < 400); round++) {
      await plant(join(repo, "one"));
      {
        await using _swapping = swapping(path, target);
        for (let attempt = 0; attempt < 10; attempt++) {
          await grid.workspaces.remove(id, undefined).then(() => deleted += 1, () => {});
        }
      }
      assert.equal(await Deno.readTextFile(join(outside, "one", "file")), "precious");
    }
    assert.ok(deleted > 0);
  });
}
