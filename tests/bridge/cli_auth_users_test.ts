import assert from "node:assert/strict";
import { z } from "zod";
import { userSchema } from "../../shared/schema/auth.ts";
import { people } from "../support/auth_support.ts";
import { SignedBridge } from "../support/signed_bridge.ts";

const { member: mia, admin: ada } = people;

async function withAdmin(test: (at: SignedBridge) => Promise<void>): Promise<void> {
  await using at = await SignedBridge.start();
  await at.signIn(ada);
  await test(at);
}

Deno.test("cli user: add from a pipe and by prompt, ls, role, email, rm", () =>
  withAdmin(async (at) => {
    const piped = await at.grid("user add zoe zoe@grid.example", { input: ["zoe's password"] });
    assert.match(piped.out, /zoe +member +zoe@grid\.example/);
    const typed = await at.grid("user add bob bob@grid.example --admin", {
      terminal: true,
      secrets: ["bob's password", "bob's password"],
    });
    assert.deepEqual(typed.asked, ["Password for bob: ", "Password for bob again: "]);
    assert.ok(!(piped.out + piped.err + typed.out + typed.err).includes("'s password"));
    assert.equal((await at.bench.login("bob", "bob's password")).body.user.role, "admin");

    const differ = await at.grid("user add eve eve@grid.example", {
      terminal: true,
      secrets: ["one password", "another one"],
    });
    assert.match(differ.err, /the two differ/);
    const short = await at.grid("user add eve eve@grid.example", { input: ["short"] });
    assert.ok(short.code === 2 && /8 to 1024 bytes/.test(short.err));
    assert.equal((await at.grid("user add eve nowhere", { input: ["x"] })).code, 2);
    assert.match(
      (await at.grid("user add zoe z@z", { input: ["password"] })).err,
      /already exists/,
    );

    assert.match((await at.grid("user role zoe admin")).out, /zoe +admin/);
    assert.equal((await at.grid("user role zoe owner")).code, 2);
    assert.match((await at.grid("user email zoe z@grid.example")).out, /z@grid\.example/);
    assert.match((await at.grid("user rm zoe")).out, /zoe is no user any more/);
    assert.match((await at.grid("user rm zoe")).err, /user not found: zoe; `grid user ls`/);
    const names = z.array(userSchema).parse(JSON.parse((await at.grid("user ls --json")).out));
    assert.deepEqual(names.map(({ username }) => username).sort(), ["ada", "bob", "mia"]);
  }));

Deno.test("cli user: what only admins may is said to a member", () =>
  withAdmin(async (at) => {
    const settings = { token: at.tokens.member };
    const run = await at.grid("user ls", { settings });
    assert.equal(run.code, 1);
    assert.match(run.err, /this endpoint requires an admin; `grid whoami`/);
  }));

Deno.test("cli user passwd: one's own asks for the current one, and stays signed in", () =>
  withAdmin(async (at) => {
    const before = await at.signIn(mia);
    const run = await at.grid("user passwd", {
      terminal: true,
      secrets: [mia.password, "a new password", "a new password"],
    });
    assert.equal(run.code, 0, run.err);
    assert.deepEqual(run.asked, [
      "Current password: ",
      "New password of mia: ",
      "New password of mia again: ",
    ]);
    assert.notEqual(await at.storedToken(), before);
    assert.equal((await at.bench.ask("GET", "/auth/me", { token: before })).status, 401);
    assert.match((await at.grid("whoami")).out, /mia/);

    const piped = await at.grid("user passwd MIA", { input: ["a new password", mia.password] });
    assert.equal(piped.code, 0, piped.err);
    assert.equal((await at.bench.login("mia", mia.password)).status, 200);
    const wrong = await at.grid("user passwd", { input: ["wrong", "another password"] });
    assert.equal(wrong.code, 1);
    assert.ok(!wrong.err.includes("another password"));
  }));

Deno.test("cli user passwd: an admin sets somebody else's without knowing it", () =>
  withAdmin(async (at) => {
    const run = await at.grid("user passwd mia", { input: ["set by the admin"] });
    assert.match(run.out, /password of mia is changed; every session of theirs has ended/);
    assert.equal((await at.bench.login("mia", "set by the admin")).status, 200);
  }));

Deno.test("cli ship add: tokens from the environment, by prompt, or none", () =>
  withAdmin(async (at) => {
    const names = ["one", "two", "three", "four"];
    const ship = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response(names.shift()),
    );
    const line = `ship add http://127.0.0.1:${ship.addr.port}`;
    const registration = { shipToken: "s-token", bridgeToken: "b-token" };
    const fromEnvironment = await at.grid(line, {
      terminal: true,
      settings: { registration },
    });
    assert.deepEqual([fromEnvironment.code, fromEnvironment.asked.length], [0, 0]);
    const typed = await at.grid(line, { terminal: true, secrets: ["b-typed", "s-typed"] });
    assert.equal(typed.asked.length, 2);
    const without = await at.grid(line, { terminal: true, secrets: [""] });
    assert.equal(without.asked.length, 1);
    assert.equal((await at.grid(line)).code, 0);
    const one = await at.grid(line, { settings: { registration: { shipToken: "s-token" } } });
    assert.match(one.err, /register both bridgeToken and shipToken, or neither/);
    await ship.shutdown();

    const { url: _, ...first } = at.bridge.registrations[0]!;
    assert.deepEqual(first, registration);
    assert.deepEqual(
      at.bridge.registrations.slice(1).map((
        { bridgeToken, shipToken },
      ) => [bridgeToken, shipToken]),
      [["b-typed", "s-typed"], [undefined, undefined], [undefined, undefined], [
        undefined,
        "s-token",
      ]],
    );
    for (const run of [fromEnvironment, typed, one]) {
      assert.doesNotMatch(run.out + run.err, /[sb]-(token|typed)/);
    }
  }));
