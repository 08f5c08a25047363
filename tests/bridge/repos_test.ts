import assert from "node:assert/strict";
import { join } from "node:path";
import { listen } from "../../shared/host/listen.ts";
import { assertFails, FleetRig } from "../support/fleet_rig.ts";

async function git(directory: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("/usr/bin/git", {
    args: ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args],
    cwd: directory,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("repos: registered, listed by name, and forgotten", async () => {
  await using rig = await FleetRig.start();
  assert.deepEqual(await rig.ask("POST", "/repos", { name: "b", url: "git@example.org:b.git" }), {
    status: 201,
    body: { name: "b", url: "git@example.org:b.git", provider: "custom" },
  });
  const github = { name: "a", url: "https://example.org/a.git", provider: "github" };
  assert.deepEqual((await rig.ask("POST", "/repos", github)).body, github);
  const names = (await rig.ask("GET", "/repos")).body.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ["a", "b"]);
  assert.deepEqual(await rig.ask("DELETE", "/repos/a"), { status: 200, body: { ok: true } });
  assert.equal((await rig.ask("GET", "/repos")).body.length, 1);
});

Deno.test("[repoAlreadyRegistered] [repoNotFound] repos: a name is taken once, and unknown is a 404", async () => {
  await using rig = await FleetRig.start();
  await rig.repo("r");
  const again = await rig.ask("POST", "/repos", { name: "r", url: "/other" });
  assertFails(again, 409, "repo already registered: r");
  assertFails(await rig.ask("DELETE", "/repos/none"), 404, "repo not found: none");
  assertFails(await rig.ask("GET", "/repos/none/branches"), 404, "repo not found: none");
});

Deno.test("[validation] [invalidRepo] [invalidRepoIdentifier] repos: what cannot be registered", async () => {
  await using rig = await FleetRig.start();
  for (const body of [{ name: "r" }, { url: "/r" }, { name: 1, url: "/r" }]) {
    assert.equal((await rig.ask("POST", "/repos", body)).status, 422);
  }
  const name = await rig.ask("POST", "/repos", { name: "a/b", url: "/r" });
  assertFails(name, 400, "invalid repo identifier");
  const urls = ["", "-u/bin/sh", "ext::sh -c x", "ftp://h/x", "ssh://-oProxyCommand=x/y", "a\nb"];
  for (const url of urls) {
    const answer = await rig.ask("POST", "/repos", { name: "r", url });
    assertFails(answer, 400, "invalid repo");
    assert.equal(typeof answer.body.reason, "string");
  }
  const provider = await rig.ask("POST", "/repos", { name: "r", url: "/r", provider: " " });
  assertFails(provider, 400, "invalid repo");
});

Deno.test("repos: a credential in the URL is used by the bridge and shown to nobody", async () => {
  await using rig = await FleetRig.start();
  const secret = { name: "r", url: "https://user:canary@example.org/r.git?token=canary" };
  const shown = { name: "r", url: "https://example.org/r.git", provider: "custom" };
  assert.deepEqual((await rig.ask("POST", "/repos", secret)).body, shown);
  assert.deepEqual((await rig.ask("GET", "/repos")).body, [shown]);
  assert.equal(rig.repos.all[0]?.url, secret.url);
});

Deno.test("branches: heads only, prefix stripped, sorted, read outside any repository", async () => {
  await using rig = await FleetRig.start();
  const remote = join(rig.directory, "remote");
  await Deno.mkdir(remote);
  await git(remote, "init", "-q", "-b", "main");
  await git(remote, "commit", "-q", "--allow-empty", "-m", "one");
  for (const name of ["zeta", "feat/x", "alpha"]) await git(remote, "branch", name);
  await git(remote, "tag", "v1");
  await git(remote, "update-ref", "refs/pull/1/head", "HEAD");
  const sha = await git(remote, "rev-parse", "HEAD");
  await rig.repo("r", remote);
  assert.deepEqual(await rig.ask("GET", "/repos/r/branches"), {
    status: 200,
    body: ["alpha", "feat/x", "main", "zeta"].map((name) => ({ name, sha })),
  });
});

Deno.test("[branchListFailed] branches: git's own words, without the URL's credential", async () => {
  await using rig = await FleetRig.start();
  await rig.repo("gone", join(rig.directory, "gone"));
  const gone = await rig.ask("GET", "/repos/gone/branches");
  assert.equal(gone.status, 502);
  assert.match(
    gone.body.error,
    /^could not list branches for repo "gone": .*not appear to be a git/,
  );

  const asked: (string | null)[] = [];
  const forge = await listen({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      asked.push(request.headers.get("authorization"));
      return new Response("no", { status: 403 });
    },
  });
  const host = new URL(forge.url).host;
  await rig.repo("locked", `http://user:canary-secret@${host}/r.git`);
  const locked = await rig.ask("GET", "/repos/locked/branches");
  await forge.shutdown();
  assert.equal(locked.status, 502);
  assert.match(locked.body.error, /403/);
  assert.doesNotMatch(JSON.stringify(locked.body) + rig.logged.join(), /canary|user:/);
  assert.deepEqual(asked, [`Basic ${btoa("user:canary-secret")}`]);
});

Deno.test("branches: a client that goes away ends the listing", async () => {
  await using rig = await FleetRig.start();
  const asked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<Response>();
  const forge = await listen({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      asked.resolve();
      return over.promise;
    },
    limits: { shutdownGraceMs: 100, shutdownMs: 1000 },
  });
  await rig.repo("slow", `${forge.url}/r.git`);
  const gone = new AbortController();
  const answer = rig.open("GET", "/repos/slow/branches", { signal: gone.signal });
  await asked.promise;
  gone.abort();
  assert.equal((await answer).status, 499);
  over.resolve(new Response(null));
  await forge.shutdown();
});
