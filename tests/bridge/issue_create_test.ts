/** Create from an issue (interface, bridge behaviours 12 and 13), every branch of it, against the test forge. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { relayed } from "../../shared/errors.ts";
import { assertFails, FleetRig } from "../support/fleet_rig.ts";
import { TestForge } from "../support/forge/forge.ts";
import { row, ShipDouble } from "../support/ship_double.ts";
import { failureResponse } from "../../shared/http/answer.ts";
import { silentLog } from "../../shared/log.ts";

const wanted = { ship: "alpha", repoName: "web", name: "w", issueNumber: 1 };

interface Bench extends AsyncDisposable {
  readonly forge: TestForge;
  readonly alpha: ShipDouble;
  readonly rig: FleetRig;
  /** The branch that the ship was told to check out, per create. */
  readonly branches: string[];
}

async function bench(): Promise<Bench> {
  const forge = await TestForge.start();
  const alpha = await ShipDouble.start("alpha");
  const rig = await FleetRig.start({ github: forge.github });
  await rig.register(alpha);
  await rig.repo("web", forge.cloneUrl, "github");
  const branches: string[] = [];
  alpha.script.createWorkspace = ({ body }) => {
    branches.push(body.branch);
    const made = row(`${body.repoName}/${body.name}`, { branch: body.branch });
    return Response.json(made, { status: 201 });
  };
  return {
    forge,
    alpha,
    rig,
    branches,
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await alpha[Symbol.asyncDispose]();
      await forge[Symbol.asyncDispose]();
    },
  };
}

Deno.test("issue: the branch is made, linked and checked out; an ordinary workspace has no record", async () => {
  await using b = await bench();
  const issue = b.forge.state.openIssue("Fix the Login");
  const { status, body } = await b.rig.ask("POST", "/workspaces", wanted);
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual([body.branch, body.ship, body.ephemeral], ["1-fix-the-login", "alpha", null]);
  assert.deepEqual(b.branches, ["1-fix-the-login"]);
  assert.deepEqual(issue.linked, ["1-fix-the-login"]);
  const { state } = b.forge;
  assert.equal(await state.commit("refs/heads/1-fix-the-login"), await state.commit("main"));
  b.forge.assertFaultless();
});

Deno.test("issue: ephemeral shows its record in both views, and keeps it over a restart", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  const { body } = await b.rig.ask("POST", "/workspaces", { ...wanted, ephemeral: true });
  const record = {
    repoName: "web",
    name: "w",
    ship: "alpha",
    issueNumber: 1,
    branch: "1-one",
    cleanup: "watching",
    blockedReason: null,
    blockedAt: null,
    pullRequest: null,
  };
  assert.deepEqual(body.ephemeral, record);
  b.alpha.workspaces.set("web/w", row("web/w", { branch: "1-one" }));
  assert.deepEqual((await b.rig.ask("GET", "/workspaces/web/w")).body.ephemeral, record);
  const [listed] = (await b.rig.ask("GET", "/workspaces")).body;
  assert.deepEqual(listed.ephemeral, record);
  const kept = JSON.parse(await Deno.readTextFile(join(b.rig.directory, "ephemeral.json")));
  assert.deepEqual(kept, { version: 1, workspaces: [record] });
  await b.rig.stop();
  await using again = await FleetRig.start({ directory: b.rig.directory, github: b.forge.github });
  await again.becomes("alpha", "online");
  assert.deepEqual((await again.ask("GET", "/workspaces/web/w")).body.ephemeral, record);
});

Deno.test("issue: the name that the forge returns is the one checked out", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  b.forge.state.rename = (name) => `users/${name}`;
  const { body } = await b.rig.ask("POST", "/workspaces", { ...wanted, ephemeral: true });
  assert.deepEqual([body.branch, body.ephemeral.branch], ["users/1-one", "users/1-one"]);
});

Deno.test("issue: asked again, the linked branch that exists is used", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  await b.rig.ask("POST", "/workspaces", wanted);
  const { status } = await b.rig.ask("POST", "/workspaces", { ...wanted, name: "second" });
  assert.equal(status, 201);
  assert.deepEqual(b.branches, ["1-one", "1-one"]);
  const refs = b.forge.requests.filter(({ path }) => path.includes("matching-refs"));
  assert.equal(refs.length, 0, "found among the linked branches");
});

Deno.test("issue: a plain branch of that name is used; one that only begins alike is not", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  const oid = (await b.forge.state.commit("main"))!;
  await b.forge.state.createBranch("1-one", oid);
  assert.equal((await b.rig.ask("POST", "/workspaces", wanted)).status, 201);
  assert.deepEqual(b.branches, ["1-one"]);
  b.forge.state.openIssue("two");
  await b.forge.state.createBranch("2-two-and-more", oid);
  b.forge.state.refuseBranches = "no branches today";
  const answer = await b.rig.ask("POST", "/workspaces", { ...wanted, name: "x", issueNumber: 2 });
  assert.equal(answer.status, 409);
  b.forge.assertFaultless();
});

Deno.test("[issueBranchUnavailable] issue: a branch linked under another name is never substituted", async () => {
  await using b = await bench();
  const issue = b.forge.state.openIssue("one");
  issue.linked.push("somebody/else");
  b.forge.state.refuseBranches = "ruleset says no";
  assertFails(
    await b.rig.ask("POST", "/workspaces", wanted),
    409,
    'branch "1-one" for issue #1 could be neither created nor found: the issue is linked to ' +
      '"somebody/else" instead; create from that branch by its name',
  );
  assert.deepEqual(b.branches, []);
  issue.linked.length = 0;
  assertFails(
    await b.rig.ask("POST", "/workspaces", wanted),
    409,
    'branch "1-one" for issue #1 could be neither created nor found: github: ruleset says no',
  );
});

Deno.test("[issueNotFound] issue: unknown is a 404, and frees the name", async () => {
  await using b = await bench();
  assertFails(await b.rig.ask("POST", "/workspaces", wanted), 404, "issue not found: #1 of web");
  const branch = { ...wanted, issueNumber: undefined, branch: "main" };
  assert.equal((await b.rig.ask("POST", "/workspaces", branch)).status, 201);
});

Deno.test("[providerTokenScope] issue: a token without write scope is a 403, found before or while linking", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  const refusal = 'provider "github" refuses the token: it needs write access to acme/web';
  b.forge.state.permission = "READ";
  assertFails(await b.rig.ask("POST", "/workspaces", wanted), 403, refusal);
  b.forge.state.permission = "WRITE";
  b.forge.state.scopeMissing = true;
  assertFails(await b.rig.ask("POST", "/workspaces", wanted), 403, refusal);
  assert.deepEqual(b.branches, []);
});

Deno.test("[providerTokenMissing] issue: no token is a 401, before anything is asked", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await FleetRig.start();
  await rig.register(alpha);
  await rig.repo("web", "https://github.com/acme/web.git", "github");
  assertFails(
    await rig.ask("POST", "/workspaces", wanted),
    401,
    'no token for provider "github": set GRID_GITHUB_TOKEN',
  );
});

Deno.test("[relayed] issue: the provider's own status is passed on", async () => {
  await using b = await bench();
  b.forge.override = () => Response.json({ message: "Bad credentials" }, { status: 401 });
  assertFails(await b.rig.ask("POST", "/workspaces", wanted), 401, "github: Bad credentials");
});

Deno.test("issue: a failed clone leaves the branch, says so, and leaves no record", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  b.alpha.script.createWorkspace = () => failureResponse(relayed(500, "disk full"), silentLog);
  const answer = await b.rig.ask("POST", "/workspaces", { ...wanted, ephemeral: true });
  assert.deepEqual(answer, {
    status: 500,
    body: {
      error: "disk full",
      reason: 'branch "1-one" was made for the issue and stays on the remote',
    },
  });
  assert.notEqual(await b.forge.state.commit("refs/heads/1-one"), null);
  assert.deepEqual(b.rig.ephemeral.all, []);
});

Deno.test("issue: two creates of one name make one branch", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  const answers = await Promise.all([
    b.rig.ask("POST", "/workspaces", wanted),
    b.rig.ask("POST", "/workspaces", wanted),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  assert.deepEqual(b.branches, ["1-one"]);
});

Deno.test("issue: a new workspace is not what an old record of its name was about", async () => {
  await using b = await bench();
  b.forge.state.openIssue("one");
  await b.rig.ask("POST", "/workspaces", { ...wanted, ephemeral: true });
  await b.rig.ask("DELETE", "/workspaces/web/w").catch(() => {});
  b.rig.fleet.forget(b.rig.fleet.links()[0]!, row("web/w"));
  const { status, body } = await b.rig.ask("POST", "/workspaces", {
    ...wanted,
    issueNumber: undefined,
    branch: "main",
  });
  assert.deepEqual([status, body.ephemeral], [201, null]);
  assert.deepEqual(b.rig.ephemeral.all, []);
});
