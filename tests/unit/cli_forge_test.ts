/** The commands about issues, pull requests, checks and sweeping, against the bridge's own routes. */
import assert from "node:assert/strict";
import { listen } from "../../shared/host/listen.ts";
import { cli, type CliRun } from "../support/cli_support.ts";
import { FleetRig } from "../support/fleet_rig.ts";
import { TestForge } from "../support/forge/forge.ts";
import { row, ShipDouble } from "../support/ship_double.ts";

async function withForge(
  test: (forge: TestForge, grid: (...argv: string[]) => Promise<CliRun>) => Promise<void>,
): Promise<void> {
  await using forge = await TestForge.start();
  await using alpha = await ShipDouble.start("alpha", ["web/fix"]);
  await using rig = await FleetRig.start({ github: forge.github });
  await rig.register(alpha);
  await rig.repo("web", forge.cloneUrl, "github");
  await rig.repo("plain", "https://example.org/plain.git");
  alpha.script.createWorkspace = ({ body }) =>
    Response.json(row(`${body.repoName}/${body.name}`, { branch: body.branch }), { status: 201 });
  const listener = await listen({ hostname: "127.0.0.1", port: 0, fetch: rig.fetch });
  try {
    await test(forge, (...argv) => cli(argv, { url: listener.url }));
    forge.assertFaultless();
  } finally {
    await listener.shutdown();
  }
}

Deno.test("cli issue: ls and show, with what a stranger wrote escaped", () =>
  withForge(async (forge, grid) => {
    const issue = forge.state.openIssue("red \x1b[31mtitle", { labels: ["bug"], body: "a\x07b" });
    issue.comments.push({ id: 9, author: "eve", body: "line one\nline two" });
    forge.state.openIssue("old", { state: "closed" });
    const list = await grid("issue", "ls", "web");
    assert.match(list.out, /#1 +open +bug +ada +red \\u001b\[31mtitle\n/);
    assert.match((await grid("issue", "ls", "web", "--state", "closed")).out, /old/);
    assert.match((await grid("issue", "ls", "web", "--label", "bug,none")).out, /no such issues/);
    const show = await grid("issue", "show", "web", "#1");
    assert.match(show.out, /a\\u0007b/);
    assert.match(show.out, /eve, .*:\n\nline one\nline two\n/);
    assert.equal(JSON.parse((await grid("issue", "show", "web", "1", "--json")).out).number, 1);
    assert.equal((await grid("issue", "ls", "web", "--state", "odd")).code, 2);
    assert.equal((await grid("issue", "show", "web", "x")).code, 2);
    assert.match((await grid("issue", "show", "web", "77")).err, /#77 of web; `grid issue ls`/);
    assert.match((await grid("issue", "ls", "plain")).err, /--provider github/);
  }));

Deno.test("cli pr and checks: lists, details, a workspace's branch, logs", () =>
  withForge(async (forge, grid) => {
    const pull = forge.state.openPull("feat");
    forge.state.close(forge.state.openPull("done"), true);
    pull.reviews.push({ id: 5, author: "bob", state: "APPROVED", body: "good" });
    pull.reviewComments.push({ id: 6, path: "README", line: 3, body: "typo" });
    assert.match((await grid("pr", "ls", "web")).out, /#1 +open +feat +main +grid +merge feat\n$/);
    assert.match((await grid("pr", "ls", "web", "--state", "merged")).out, /#2 +merged +done/);
    const { out } = await grid("pr", "show", "web", "1");
    for (const part of ["feat into main", "+3 -1 in 2 files", "bob: approved", "README:3"]) {
      assert.ok(out.includes(part), `${part} in ${out}`);
    }
    const run = { id: 7, name: "test", ref: "main", app: "github-actions", log: "a\nb\nc\n" };
    forge.state.checkRuns.push({ ...run, status: "completed", conclusion: "failure" });
    assert.match(
      (await grid("checks", "web/fix")).out,
      /ref +main\nchecks +failure\n[^]*test +fail/,
    );
    assert.match(
      (await grid("checks", "web", "--ref", "main", "--logs", "--tail", "2")).out,
      /\nb\nc\n/,
    );
    for (
      const argv of [["web"], ["a/b/c"], ["web", "--ref", "x", "--pull", "1"]]
    ) assert.equal((await grid("checks", ...argv)).code, 2, argv.join(" "));
  }));

Deno.test("cli new --issue: its name by default, ephemeral, and what cannot go together", () =>
  withForge(async (forge, grid) => {
    forge.state.openIssue("Fix it");
    assert.match((await grid("new", "web", "--issue", "1")).out, /web\/issue-1 .* branch 1-fix-it/);
    assert.equal((await grid("new", "web", "mine", "--issue", "1", "--ephemeral")).code, 0);
    assert.match((await grid("show", "web/fix")).out, /session +none/);
    assert.match((await grid("ls")).out, /^WORKSPACE +BRANCH +SHIP +SESSION +AGENT/);
    for (
      const argv of [["web"], ["web", "x", "--ephemeral"], ["web", "--issue", "1", "--branch", "b"]]
    ) assert.equal((await grid("new", ...argv)).code, 2, argv.join(" "));
    assert.match((await grid("new", "web", "y", "--issue", "9")).err, /issue not found: #9/);
  }));

Deno.test("cli sweep: what was done, in words and as JSON", () =>
  withForge(async (_forge, grid) => {
    assert.match((await grid("sweep")).out, /^0 checked, 0 deleted, /);
    assert.equal(JSON.parse((await grid("sweep", "--json")).out).forgotten, 0);
  }));
