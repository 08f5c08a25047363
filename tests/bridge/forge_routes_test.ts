/** The routes below /repos/:name on the GitHub provider, against the test forge. */
import assert from "node:assert/strict";
import { assertFails, FleetRig } from "../support/fleet_rig.ts";
import { TestForge } from "../support/forge/forge.ts";

async function rigOf(forge: TestForge): Promise<FleetRig> {
  const rig = await FleetRig.start({ github: forge.github });
  await rig.repo("web", forge.cloneUrl, "github");
  return rig;
}

Deno.test("forge: a repo is shown with its forge's facts, or nulls where there is no forge", async () => {
  await using forge = await TestForge.start();
  await using rig = await rigOf(forge);
  const { status, body } = await rig.ask("GET", "/repos/web");
  assert.equal(status, 200);
  assert.equal(body.name, "web");
  assert.equal(body.defaultBranch, "main");
  assert.equal(body.private, true);
  assert.match(body.webUrl, /\/acme\/web$/);
  await rig.repo("plain", "https://example.org/plain.git");
  assert.deepEqual((await rig.ask("GET", "/repos/plain")).body, {
    name: "plain",
    url: "https://example.org/plain.git",
    provider: "custom",
    defaultBranch: null,
    webUrl: null,
    description: null,
    private: null,
  });
  forge.assertFaultless();
});

Deno.test("forge: issues are listed without pull requests, by state, labels and limit", async () => {
  await using forge = await TestForge.start();
  await using rig = await rigOf(forge);
  forge.state.openIssue("one", { labels: ["bug", "ui"] });
  forge.state.openIssue("two", { labels: ["bug"] });
  forge.state.openIssue("three", { state: "closed" });
  forge.state.openPull("feat");
  const titles = async (query: string) => {
    const { status, body } = await rig.ask("GET", `/repos/web/issues${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.map((issue: { title: string }) => issue.title);
  };
  assert.deepEqual(await titles(""), ["two", "one"]);
  assert.deepEqual(await titles("?state=closed"), ["three"]);
  assert.deepEqual(await titles("?state=all&limit=2"), ["three", "two"]);
  assert.deepEqual(await titles("?label=bug&label=ui"), ["one"]);
  for (const query of ["?state=odd", "?limit=0", "?limit=101", "?limit=x"]) {
    assert.equal((await rig.ask("GET", `/repos/web/issues${query}`)).status, 422, query);
  }
  forge.assertFaultless();
});

Deno.test("forge: a list looks through several pages, and no more than it must", async () => {
  await using forge = await TestForge.start();
  await using rig = await rigOf(forge);
  forge.state.openIssue("deep");
  for (let index = 0; index < 120; index += 1) forge.state.openPull(`p${index}`);
  const { body } = await rig.ask("GET", "/repos/web/issues");
  assert.deepEqual(body.map((issue: { title: string }) => issue.title), ["deep"]);
  assert.equal(forge.requests.length, 2);
  forge.assertFaultless();
});

Deno.test("[issueNotFound] forge: an issue with comments and linked branches; an unknown one is a 404", async () => {
  await using forge = await TestForge.start();
  await using rig = await rigOf(forge);
  const issue = forge.state.openIssue("one", { labels: ["bug"] });
  issue.linked.push("1-one");
  const written = await rig.ask("POST", "/repos/web/issues/1/comments", { body: "hello" });
  assert.equal(written.status, 201);
  assert.match(written.body.url, /issues\/1#issuecomment-/);
  const { status, body } = await rig.ask("GET", "/repos/web/issues/1");
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.linkedBranches, ["1-one"]);
  assert.deepEqual(body.labels, ["bug"]);
  assert.equal(body.commentCount, 1);
  assert.deepEqual(
    body.comments.map(({ author, body }: { author: string; body: string }) => [author, body]),
    [["grid", "hello"]],
  );
  assertFails(await rig.ask("GET", "/repos/web/issues/99"), 404, "issue not found: #99 of web");
  assert.equal((await rig.ask("POST", "/repos/web/issues/1/comments", { body: " " })).status, 422);
  assert.equal((await rig.ask("POST", "/repos/web/issues/99/comments", { body: "x" })).status, 404);
  assert.equal((await rig.ask("GET", "/repos/web/issues/0")).status, 404);
  forge.assertFaultless();
});

Deno.test("forge: pull requests by state and head, in full, commented and reviewed", async () => {
  await using forge = await TestForge.start();
  await using rig = await rigOf(forge);
  const open = forge.state.openPull("feat/x");
  forge.state.close(forge.state.openPull("done"), true);
  forge.state.close(forge.state.openPull("dropped"), false);
  const heads = async (query: string) =>
    (await rig.ask("GET", `/repos/web/pulls${query}`)).body.map((one: { head: string }) =>
      one.head
    );
  assert.deepEqual(await heads(""), ["feat/x"]);
  assert.deepEqual(await heads("?state=merged"), ["done"]);
  assert.deepEqual(await heads("?state=closed"), ["dropped"]);
  assert.deepEqual(await heads("?state=all"), ["dropped", "done", "feat/x"]);
  assert.deepEqual(await heads("?state=all&head=feat%2Fx"), ["feat/x"]);
  const place = `/repos/web/pulls/${open.number}`;
  assert.equal((await rig.ask("POST", `${place}/comments`, { body: "nice" })).status, 201);
  const review = { event: "request_changes", body: "not yet" };
  const comments = [{ path: "README", line: 1, body: "why" }];
  assert.equal((await rig.ask("POST", `${place}/reviews`, { ...review, comments })).status, 201);
  assert.equal((await rig.ask("POST", `${place}/reviews`, { event: "merge" })).status, 422);
  const { body } = await rig.ask("GET", place);
  assert.equal(body.state, "open");
  assert.equal(body.changedFiles, 2);
  assert.deepEqual(body.comments.map((one: { body: string }) => one.body), ["nice"]);
  assert.deepEqual(
    body.reviews.map((one: { state: string; body: string }) => [one.state, one.body]),
    [
      ["changes_requested", "not yet"],
    ],
  );
  assert.deepEqual(
    body.reviewComments.map((one: { path: string; line: number }) => [one.path, one.line]),
    [["README", 1]],
  );
  const issue = forge.state.openIssue("no pull");
  const wrong = await rig.ask("POST", `/repos/web/pulls/${issue.number}/comments`, { body: "x" });
  assert.equal(wrong.status, 404);
  assert.deepEqual(issue.comments, [], "a comment for a pull request reaches no issue");
  forge.assertFaultless();
});

Deno.test("forge: checks and statuses of a ref or a pull request, and one word for them", async () => {
  await using forge = await TestForge.start();
  await using rig = await rigOf(forge);
  const checks = (query: string) => rig.ask("GET", `/repos/web/checks?${query}`);
  assert.deepEqual((await checks("ref=main")).body, { ref: "main", conclusion: null, checks: [] });
  forge.state.statuses.push({ id: 9, ref: "main", context: "legacy", state: "success" });
  assert.equal((await checks("ref=main")).body.conclusion, "success");
  const run = { id: 7, name: "test", ref: "main", app: "github-actions", log: "" };
  forge.state.checkRuns.push({ ...run, status: "in_progress", conclusion: null });
  assert.equal((await checks("ref=main")).body.conclusion, "pending");
  forge.state.checkRuns[0]!.status = "completed";
  forge.state.checkRuns[0]!.conclusion = "timed_out";
  const pull = forge.state.openPull("main");
  const ofPull = (await checks(`pull=${pull.number}`)).body;
  assert.equal(ofPull.conclusion, "failure");
  assert.match(ofPull.ref, /^[0-9a-f]{40}$/);
  assert.deepEqual(ofPull.checks.map((one: { name: string }) => one.name), ["test", "legacy"]);
  for (const query of ["", "ref=main&pull=1", "pull=0", "ref="]) {
    assert.equal((await checks(query)).status, 422, query);
  }
  assertFails(await checks("ref=mine"), 404, 'github has no "mine": push the branch first');
  forge.assertFaultless();
});

Deno.test("forge: logs of failed jobs only, cut from the end, without escapes, fetched without the token", async () => {
  await using forge = await TestForge.start();
  await using rig = await rigOf(forge);
  await forge.state.createBranch("feat/x", (await forge.state.commit("main"))!);
  const lines = Array.from({ length: 5_000 }, (_, index) => `\x1b[31mline ${index}\x1b[0m\r\n`);
  const run = { ref: "feat/x", status: "completed", log: lines.join("") } as const;
  forge.state.checkRuns.push(
    { ...run, id: 1, name: "test", app: "github-actions", conclusion: "failure" },
    { ...run, id: 2, name: "lint", app: "github-actions", conclusion: "success" },
    { ...run, id: 3, name: "other", app: "other-ci", conclusion: "failure" },
  );
  const logs = async (query: string) =>
    (await rig.ask("GET", `/repos/web/checks/logs?ref=feat%2Fx${query}`)).body;
  const [only, ...others] = await logs("&tail=2");
  assert.deepEqual(others, []);
  assert.deepEqual([only.name, only.log], ["test", "line 4998\nline 4999"]);
  assert.match(only.url, /\/job\/1$/);
  assert.equal((await logs(""))[0].log.split("\n").length, 200);
  const fetched = forge.requests.filter(({ path }) => path.startsWith("/logs/"));
  assert.ok(fetched.length > 0);
  assert.ok(fetched.every(({ authorization }) => authorization === null));
  forge.assertFaultless();
});

Deno.test("[providerUnsupported] [providerTokenMissing] forge: no forge is a 400, no token a 401", async () => {
  await using rig = await FleetRig.start();
  await rig.repo("plain", "https://example.org/plain.git");
  await rig.repo("odd", "https://example.org/a/b/c.git", "github");
  await rig.repo("web", "git@github.com:acme/web.git", "github");
  assertFails(
    await rig.ask("GET", "/repos/plain/issues"),
    400,
    'provider "custom" does not support issues',
  );
  assertFails(
    await rig.ask("GET", "/repos/web/pulls"),
    401,
    'no token for provider "github": set GRID_GITHUB_TOKEN',
  );
  assertFails(await rig.ask("GET", "/repos/none/issues"), 404, "repo not found: none");
  await using forge = await TestForge.start();
  await using tokened = await FleetRig.start({ github: forge.github });
  await tokened.repo("odd", "https://example.org/a/b/c.git", "github");
  assert.equal((await tokened.ask("GET", "/repos/odd/issues")).status, 400);
});
