import assert from "node:assert/strict";
import { join } from "node:path";
import {
  failureOf,
  git,
  gitPath,
  type Grid,
  idOf,
  makeGrid,
  textOf,
} from "../support/grid_support.ts";
import { serveGitHttp, serveSilence } from "../support/git_http_support.ts";
import { parseCloneUrl } from "../../shared/git/url.ts";

const id = idOf("repo", "one");

/** A git that writes down its arguments and environment before it works. */
async function recorder(root: string): Promise<string> {
  const path = join(root, "git");
  await Deno.writeTextFile(
    path,
    `#!/bin/sh
exec 9>>'${join(root, "record")}'
{ printf 'ARGV'; printf ' [%s]' "$@"; printf '\\n'; env; printf 'END\\n'; } >&9
exec 9>&-
exec ${gitPath} "$@"
`,
  );
  await Deno.chmod(path, 0o755);
  return path;
}

interface RecordedCall {
  readonly argv: string;
  readonly env: string;
}

async function recorded(grid: Grid): Promise<RecordedCall[]> {
  const text = await Deno.readTextFile(join(grid.root, "record"));
  return text.split("END\n").filter((part) => part !== "").map((part) => {
    const end = part.indexOf("\n");
    return { argv: part.slice(0, end), env: part.slice(end + 1) };
  });
}

Deno.test("every git has the fixed environment, and no secret in its arguments or in the clone", async () => {
  await using grid = await makeGrid({ gitProgram: recorder });
  await using http = serveGitHttp(grid.remote, "ada:canary-secret");
  const url = `http://ada:canary-secret@127.0.0.1:${http.port}/remote.git`;
  await grid.workspaces.create({ url, repoName: "repo", name: "one", branch: "x/new" });
  await grid.workspaces.activate(id);
  await grid.workspaces.get(id);
  await textOf(await grid.workspaces.diff(id, { includeUntracked: true }));
  await grid.workspaces.switchBranch(id, "other");
  await grid.workspaces.switchBranch(id, "main");
  const calls = await recorded(grid);
  assert.ok(calls.length > 8);
  for (const { argv, env } of calls) {
    for (
      const line of [
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=/bin/false",
        "GIT_SSH_COMMAND=ssh -oBatchMode=yes",
        "LC_ALL=C",
      ]
    ) assert.ok(env.includes(`${line}\n`), `${argv}: ${line}`);
    assert.ok(!argv.includes("canary-secret"), argv);
    const network = /ls-remote|clone/.test(argv);
    assert.match(
      env,
      network ? /^GIT_ALLOW_PROTOCOL=https:http:ssh:git:file$/m : /^GIT_ALLOW_PROTOCOL=none$/m,
    );
    assert.equal(env.includes(btoa("ada:canary-secret")), network, argv);
    if (!network && !argv.includes("check-ref-format")) {
      assert.match(env, new RegExp(`^GIT_DIR=${grid.gridDirectory}/`, "m"));
      assert.match(env, new RegExp(`^GIT_WORK_TREE=${grid.gridDirectory}/`, "m"));
    }
    if (network) assert.match(argv, /\[--\] \[http:\/\/127/);
  }
  const config = await Deno.readTextFile(join(grid.gridDirectory, "repo", "one", ".git", "config"));
  assert.ok(config.includes(`url = http://127.0.0.1:${http.port}/remote.git`));
  assert.ok(!/canary|Basic|extraHeader|ada/i.test(config), config);
  assert.ok(http.authorizations.some((one) => one !== null));
});

Deno.test("[cloneFailed] a wrong credential is a failure that shows none of it", async () => {
  await using grid = await makeGrid();
  await using http = serveGitHttp(grid.remote, "ada:right");
  const url = `http://ada:canary-wrong@127.0.0.1:${http.port}/remote.git?key=canary-query`;
  const failure = await failureOf(
    "cloneFailed",
    () => grid.workspaces.create({ url, repoName: "repo", name: "one", branch: "main" }),
  );
  assert.ok(!/canary|ada/.test(failure.message), failure.message);
  assert.match(
    failure.message,
    new RegExp(`^could not clone http://127.0.0.1:${http.port}/remote.git: .`),
  );
});

Deno.test("cloning over HTTP reports progress and ends on the asked branch", async () => {
  await using grid = await makeGrid();
  await using http = serveGitHttp(grid.remote, null);
  const seen: number[] = [];
  const made = await grid.workspaces.create(
    {
      url: `http://127.0.0.1:${http.port}/remote.git`,
      repoName: "repo",
      name: "one",
      branch: "feat/x",
    },
    ({ percent }) => seen.push(percent ?? -1),
  );
  assert.equal(made.branch, "feat/x");
  assert.ok(seen.includes(100));
});

Deno.test("diffs: every option, the range and the paths kept in their place", async () => {
  await using grid = await makeGrid();
  await grid.workspaces.create({ url: grid.remote, repoName: "repo", name: "one", branch: "main" });
  const directory = join(grid.gridDirectory, "repo", "one");
  await Deno.writeTextFile(join(directory, "README"), "one\n2\n");
  await Deno.writeTextFile(join(directory, "staged"), "s\n");
  await git(directory, "add", "staged");
  await Deno.writeTextFile(join(directory, "new file"), "n\n");
  await Deno.mkdir(join(directory, "nested"));
  await git(join(directory, "nested"), "init", "-q");
  const index = await Deno.readFile(join(directory, ".git", "index"));
  const diff = async (query: Parameters<Grid["workspaces"]["diff"]>[1]) =>
    await textOf(await grid.workspaces.diff(id, query));
  assert.match(await diff({}), /^diff --git a\/README b\/README\n[^]*-two\n\+2\n$/);
  assert.match(await diff({ staged: true }), /^diff --git a\/staged b\/staged\nnew file/);
  assert.equal(await diff({ nameOnly: true }), "README\n");
  assert.equal(await diff({ nameOnly: true, range: "HEAD" }), "README\nstaged\n");
  assert.match(await diff({ stat: true }), /README \| 2 \+-\n 1 file changed/);
  assert.equal(await diff({ nameOnly: true, includeUntracked: true }), "README\nnew file\n");
  assert.match(await diff({ includeUntracked: true }), /new file mode 100644\n[^]*\+n\n$/);
  assert.equal(
    await diff({ nameOnly: true, includeUntracked: true, paths: ["new file"] }),
    "new file\n",
  );
  assert.equal(await diff({ nameOnly: true, paths: [":!README", "*"] }), "");
  assert.deepEqual(await Deno.readFile(join(directory, ".git", "index")), index);
  assert.deepEqual(
    await Array.fromAsync(Deno.readDir(join(grid.gridDirectory, ".grid-trash"))),
    [],
  );
  for (const range of ["nowhere", "--output=x", "-R", "", "a b", "HEAD..nowhere"]) {
    const failure = await failureOf("badRange", () => grid.workspaces.diff(id, { range }));
    assert.equal(failure.status, 400, range);
  }
  // Two paths outside would make git compare any two files of the host.
  for (const paths of [["/etc/passwd", "/etc/hostname"], ["../x", "../../y"], [""]]) {
    await failureOf("badRange", () => grid.workspaces.diff(id, { paths }));
  }
});

Deno.test("a diff beyond the bound ends with a line that says so", async () => {
  await using grid = await makeGrid();
  await grid.workspaces.create({ url: grid.remote, repoName: "repo", name: "one", branch: "main" });
  const directory = join(grid.gridDirectory, "repo", "one");
  await Deno.writeTextFile(join(directory, "README"), "x".repeat(99).concat("\n").repeat(400_000));
  const text = await textOf(await grid.workspaces.diff(id, {}));
  assert.match(text.slice(-100), /\n\[diff truncated: it is longer than 33554432 bytes\]\n$/);
  assert.ok(text.length < 33554432 + 100);
});

/** Command lines of live processes that mention `text`. */
async function processesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (line.includes(text)) found.push(line.replaceAll("\0", " "));
  }
  return found;
}

async function untilNone(text: string): Promise<void> {
  for (let round = 0; round < 100; round++) {
    if ((await processesWith(text)).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(await processesWith(text), []);
}

Deno.test("a reader that leaves a diff ends its git", async () => {
  await using grid = await makeGrid();
  await grid.workspaces.create({ url: grid.remote, repoName: "repo", name: "one", branch: "main" });
  const directory = join(grid.gridDirectory, "repo", "one");
  await Deno.writeTextFile(join(directory, "README"), "x".repeat(99).concat("\n").repeat(400_000));
  for (let round = 0; round < 10; round++) {
    const reader = (await grid.workspaces.diff(id, {})).getReader();
    await reader.read();
    await reader.cancel();
    const abort = new AbortController();
    const other = (await grid.workspaces.diff(id, {}, abort.signal)).getReader();
    await other.read();
    abort.abort();
    while (!(await other.read().catch(() => ({ done: true }))).done);
  }
  await untilNone(`--ignore-submodules=dirty\0-O/dev/null`);
  assert.equal((await grid.workspaces.list()).length, 1);
});

Deno.test("hanging clones that are killed leave no process", async () => {
  await using grid = await makeGrid();
  await using silence = serveSilence();
  const parsed = parseCloneUrl(`http://127.0.0.1:${silence.port}/remote.git`);
  assert.ok(parsed.ok);
  const { lanes } = grid;
  const aborts = Array.from({ length: 20 }, () => new AbortController());
  const runs = aborts.map((abort, index) =>
    lanes.network.run("git", ["clone", "--", parsed.url.forGit, join(grid.root, `hang-${index}`)], {
      timeoutMs: 60_000,
      signal: abort.signal,
    }).catch(() => null)
  );
  while ((await processesWith(`127.0.0.1:${silence.port}`)).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const abort of aborts) abort.abort();
  await Promise.all(runs);
  await untilNone(`127.0.0.1:${silence.port}`);
});
