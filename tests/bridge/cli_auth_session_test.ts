import assert from "node:assert/strict";
import { people } from "../support/auth_support.ts";
import { cli } from "../support/cli_support.ts";
import { SignedBridge } from "../support/signed_bridge.ts";

const { member: mia, admin: ada } = people;

async function withBridge(test: (at: SignedBridge) => Promise<void>): Promise<void> {
  await using at = await SignedBridge.start();
  at.bridge.addShip("aurora");
  await test(at);
}

const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;
const ask401s = (at: SignedBridge, path: string) => at.seen.filter((one) => one === path).length;

Deno.test("cli login: password from standard input, private file, nothing shown", () =>
  withBridge(async (at) => {
    const run = await at.grid("login --username mia --json", { input: [mia.password, "rest"] });
    assert.equal(run.code, 0, run.err);
    const token = await at.storedToken();
    for (const secret of [token, mia.password]) {
      assert.ok(!(run.out + run.err).includes(secret), "a secret was printed");
    }
    assert.equal(JSON.parse(run.out).role, "member");
    assert.equal(await modeOf(at.sessionFile), 0o600);
    assert.equal(await modeOf(`${at.home}/grid`), 0o700);
    assert.match((await at.grid("whoami")).out, /user +mia\nrole +member/);
    assert.match((await at.grid("status")).out, /signed in as +mia \(member\)/);
    assert.equal(JSON.parse((await at.grid("status --json")).out).user.username, "mia");
  }));

Deno.test("cli login: asked for on a terminal, unseen", () =>
  withBridge(async (at) => {
    const run = await at.grid("login", {
      terminal: true,
      answer: "ada",
      secrets: [ada.password],
    });
    assert.equal(run.code, 0, run.err);
    assert.deepEqual(run.asked, ["Username: ", "Password of ada: "]);
    assert.match(run.out, /signed in as ada \(admin\)/);
    const cancelled = await at.grid("login --username ada", { terminal: true });
    assert.equal(cancelled.code, 130);
  }));

Deno.test("cli login: what goes wrong says what to do, and stores nothing", () =>
  withBridge(async (at) => {
    const wrong = await at.grid("login --username mia", { input: ["wrong"] });
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /invalid username or password/);
    assert.equal((await at.grid("login --username mia")).code, 2);
    assert.match((await at.grid("login")).err, /add --username/);
    const argument = await at.grid("login --username mia --password hunter2");
    assert.equal(argument.code, 2);
    const glued = await at.grid("login --password=hunter2");
    assert.ok(glued.code === 2 && !glued.err.includes("hunter2"));
    await assert.rejects(Deno.stat(at.sessionFile), Deno.errors.NotFound);
  }));

Deno.test("cli: without a sign-in every command says how to", () =>
  withBridge(async (at) => {
    for (const line of ["ls", "whoami", "status", "events --limit 1", "user ls", "new web fix"]) {
      const run = await at.grid(line);
      assert.equal(run.code, 1);
      assert.match(run.err, /`grid login` signs in, or set GRID_TOKEN/, line);
    }
  }));

Deno.test("cli: GRID_TOKEN wins over the session, and a bad one is named but not shown", () =>
  withBridge(async (at) => {
    const session = await at.signIn(mia);
    const settings = { token: at.tokens.admin };
    assert.match((await at.grid("whoami", { settings })).out, /user +ada[^]*by +GRID_TOKEN/);
    const refused = await at.grid("ls", { settings: { token: "no-such-token" } });
    assert.equal(refused.code, 1);
    assert.match(refused.err, /GRID_TOKEN/);
    assert.ok(!refused.err.includes("no-such-token"));
    const broken = await at.grid("ls", { settings: { token: "two\nlines" } });
    assert.ok(broken.code === 2 && !broken.err.includes("lines"));
    assert.equal(await at.storedToken(), session, "a refused GRID_TOKEN is no reason to sign out");
  }));

Deno.test("cli: an ended session is discarded, and asked for once on a terminal", () =>
  withBridge(async (at) => {
    const old = await at.signIn(mia);
    await at.bench.ask("POST", "/auth/logout", { token: old });
    at.seen.length = 0;
    const run = await at.grid("status", { terminal: true, secrets: [mia.password] });
    assert.equal(run.code, 0, run.err);
    assert.deepEqual(run.asked, ["Password of mia: "]);
    assert.match(run.err, /the session of mia .* has ended/);
    assert.equal(ask401s(at, "GET /auth/me"), 2, "refused, then repeated once");
    assert.notEqual(await at.storedToken(), old);
    assert.deepEqual((await at.grid("ls", { terminal: true })).asked, []);
  }));

Deno.test("cli: an ended session without a terminal is discarded with a hint", () =>
  withBridge(async (at) => {
    const old = await at.signIn(mia);
    await at.bench.ask("POST", "/auth/logout", { token: old });
    at.seen.length = 0;
    const run = await at.grid("ls");
    assert.equal(run.code, 1);
    assert.match(run.err, /`grid login` signs in/);
    assert.deepEqual(at.seen, ["GET /workspaces"], "nothing to retry with");
    assert.equal(await at.storedToken(), "");
  }));

Deno.test("cli: a wrong password after an ended session fails without a second try", () =>
  withBridge(async (at) => {
    const old = await at.signIn(mia);
    await at.bench.ask("POST", "/auth/logout", { token: old });
    at.seen.length = 0;
    const run = await at.grid("ls", { terminal: true, secrets: ["wrong", mia.password] });
    assert.equal(run.code, 1);
    assert.match(run.err, /invalid username or password/);
    assert.deepEqual(at.seen, ["GET /workspaces", "POST /auth/login"]);
  }));

Deno.test("cli: streams renew the session too: events by ticket, a create", () =>
  withBridge(async (at) => {
    for (const line of ["events --limit 1", "new web fix"]) {
      const old = await at.signIn(mia);
      await at.bench.ask("POST", "/auth/logout", { token: old });
      const run = await at.grid(line, { terminal: true, secrets: [mia.password] });
      assert.equal(run.code, 0, run.err);
      assert.deepEqual(run.asked, ["Password of mia: "]);
    }
  }));

Deno.test("cli logout: revoked at the bridge and gone from the file; warns when the bridge is away", () =>
  withBridge(async (at) => {
    const token = await at.signIn(mia);
    assert.match((await at.grid("logout")).out, /signed out/);
    assert.equal((await at.bench.ask("GET", "/auth/me", { token })).status, 401);
    assert.equal(await at.storedToken(), "");
    assert.match((await at.grid("logout")).out, /not signed in/);

    // The same session under another port, where nobody listens.
    const gone = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const url = `http://127.0.0.1:${gone.addr.port}`;
    gone.close();
    const session = { token, username: "mia", expiresAt: new Date().toISOString() };
    const sessions = { [url]: session };
    await Deno.writeTextFile(at.sessionFile, JSON.stringify({ version: 1, sessions }));
    const run = await at.grid("logout", { url });
    assert.equal(run.code, 0);
    assert.match(run.err, /warning: the bridge was not told/);
    assert.equal(await at.storedToken(), "");
  }));

Deno.test("cli login: a second one ends the first", () =>
  withBridge(async (at) => {
    const first = await at.signIn(mia);
    await at.signIn(ada);
    assert.equal((await at.bench.ask("GET", "/auth/me", { token: first })).status, 401);
    const run = await at.grid("login --username mia", {
      input: [mia.password],
      settings: { token: at.tokens.admin },
    });
    assert.match(run.err, /GRID_TOKEN is set, and wins/);
  }));

Deno.test("cli: a corrupt session file is named and left as it is", () =>
  withBridge(async (at) => {
    await at.signIn(mia);
    for (const text of ["{", '{"version":1,"sessions":{"x":{"token":"s3cret"}}}']) {
      await Deno.writeTextFile(at.sessionFile, text);
      for (const line of ["ls", "logout", "login --username mia"]) {
        const run = await at.grid(line, { input: [mia.password] });
        assert.equal(run.code, 1);
        assert.ok(run.err.includes(at.sessionFile), run.err);
        assert.ok(!run.err.includes("s3cret"));
      }
      assert.equal(await Deno.readTextFile(at.sessionFile), text);
    }
  }));

Deno.test("cli login: a bridge without sign-in says so", () =>
  withBridge(async (at) => {
    await using server = await at.bridge.serve();
    const run = await cli(["login"], { url: server.url, terminal: true });
    assert.match(run.out, /asks for no sign-in/);
    assert.deepEqual(run.asked, []);
  }));
