import assert from "node:assert/strict";
import { AuthBench, people } from "../support/auth_support.ts";

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();
const zoe = { username: "Zoë", email: "zoe@grid.example", password: "zoe's password" };

Deno.test("an admin adds, lists and deletes users", async () => {
  const { bench, admin: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const added = await bench.ask("POST", "/users", { token, body: zoe });
  assert.equal(added.status, 201);
  const { createdAt, ...rest } = added.body;
  assert.deepEqual(rest, { username: "Zoë", email: "zoe@grid.example", role: "member" });
  assert.equal(new Date(createdAt).toISOString(), createdAt);
  const list = await bench.ask("GET", "/users", { token });
  assert.deepEqual(list.body.map((user: { username: string }) => user.username), [
    "ada",
    "mia",
    "Zoë",
  ]);
  assert.ok(!JSON.stringify(list.body).includes("argon2id"));
  const path = `/users/${encodeURIComponent("ZOË")}`;
  assert.deepEqual((await bench.ask("DELETE", path, { token })).body, { ok: true });
  const again = await bench.ask("DELETE", path, { token });
  assert.equal(again.status, 404);
  assert.deepEqual(again.body, { error: "user not found: ZOË" });
});

Deno.test("names are one under NFKC and case, emails too", async () => {
  const { bench, admin: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const post = (body: object) => bench.ask("POST", "/users", { token, body: { ...zoe, ...body } });
  for (const username of ["MIA", "ｍｉａ", "Ｍia"]) {
    const answer = await post({ username });
    assert.equal(answer.status, 409, username);
    assert.deepEqual(answer.body, { error: `user already exists: ${username}` });
  }
  const email = await post({ email: "MIA@grid.EXAMPLE" });
  assert.equal(email.status, 409);
  assert.deepEqual(email.body, { error: "email already in use" });
  assert.equal((await post({ username: "ﬁn" })).status, 201);
  assert.equal((await post({ username: "FIN", email: "b@c" })).status, 409);
  assert.equal((await bench.login("Fin", zoe.password)).status, 200);
});

Deno.test("what is no user is refused: 400 for names, 422 for the rest", async () => {
  const { bench, admin: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const post = (body: object) => bench.ask("POST", "/users", { token, body: { ...zoe, ...body } });
  for (const username of ["", ".", "a/b", "a\\b", "a\u0000", "x".repeat(65), "é".repeat(33)]) {
    const answer = await post({ username });
    assert.equal(answer.status, 400, username);
    assert.equal(answer.body.error, "invalid username");
    assert.match(answer.body.reason, /^must /);
  }
  assert.equal((await post({ username: "é".repeat(32) })).status, 201);
  for (
    const body of [
      { username: 1 },
      { email: "nobody" },
      { email: "a b@c" },
      { email: "a@b\n" },
      { email: `${"a".repeat(251)}@b.c` },
      { password: "1234567" },
      { password: "x".repeat(1025) },
      { password: "é".repeat(513) },
      { password: undefined },
      { role: "root" },
    ]
  ) {
    const answer = await post(body);
    assert.equal(answer.status, 422, JSON.stringify(body));
    assert.equal(answer.body.error.name, "ZodError");
  }
  assert.equal(
    (await bench.ask("PUT", "/users/a%2Fb/role", { token, body: { role: "member" } }))
      .status,
    400,
  );
});

Deno.test("the last admin can be neither deleted nor demoted, by whatever race", async () => {
  const { bench, admin: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const demote = (username: string) =>
    bench.ask("PUT", `/users/${username}/role`, { token, body: { role: "member" } });
  for (const answer of [await demote("ada"), await bench.ask("DELETE", "/users/ada", { token })]) {
    assert.equal(answer.status, 409);
    assert.deepEqual(answer.body, { error: "the last admin cannot be removed" });
  }
  await bench.ask("PUT", "/users/mia/role", { token, body: { role: "admin" } });
  const race = await Promise.all([
    bench.auth.users.setRole("ada", "member").then(() => "done", () => "refused"),
    bench.auth.users.remove("mia").then(() => "done", () => "refused"),
    bench.auth.users.setRole("mia", "member").then(() => "done", () => "refused"),
    bench.auth.users.remove("ada").then(() => "done", () => "refused"),
  ]);
  const left = await bench.auth.users.list();
  assert.equal(left.filter(({ role }) => role === "admin").length, 1, race.join());
  assert.ok(await bench.auth.users.hasAdmin());
});

Deno.test("of fifty who take one name, or one email, one gets it", async () => {
  const { bench, admin: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const create = (body: object) => bench.ask("POST", "/users", { token, body });
  const names = await Promise.all(
    Array.from(
      { length: 30 },
      (_, n) => create({ ...zoe, username: n % 2 ? "zoë" : "ZOË", email: `z${n}@x` }),
    ),
  );
  assert.deepEqual(statuses(names), [201, ...Array(29).fill(409)]);
  const emails = await Promise.all(
    Array.from({ length: 30 }, (_, n) => create({ ...zoe, username: `u${n}`, email: "one@x" })),
  );
  assert.deepEqual(statuses(emails), [201, ...Array(29).fill(409)]);
  const admins = await Promise.all(
    Array.from(
      { length: 20 },
      (_, n) => create({ ...zoe, username: `a${n}`, email: `a${n}@x`, role: "admin" }),
    ),
  );
  assert.deepEqual(statuses(admins), Array(20).fill(201));
  const changes = await Promise.all(
    Array.from(
      { length: 10 },
      (_, n) => bench.ask("PUT", `/users/a${n}/email`, { token, body: { email: "all@x" } }),
    ),
  );
  assert.deepEqual(statuses(changes), [200, ...Array(9).fill(409)]);
});

Deno.test("an email is changed by its user or an admin, and the old one is free again", async () => {
  const { bench, member, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  const put = (token: string, name: string, email: string) =>
    bench.ask("PUT", `/users/${name}/email`, { token, body: { email } });
  assert.equal((await put(member, "MIA", "new@grid.example")).body.email, "new@grid.example");
  assert.equal((await put(member, "ada", "x@y")).status, 403);
  assert.equal((await put(member, "nobody", "x@y")).status, 403);
  assert.equal((await put(admin, "ada", people.member.email)).status, 200);
  assert.equal((await put(admin, "mia", "MIA@GRID.example")).status, 409);
  assert.equal((await put(admin, "mia", "NEW@grid.example")).body.email, "NEW@grid.example");
  assert.equal((await bench.ask("GET", "/auth/me", { token: member })).status, 200);
});

Deno.test("changing one's own password takes the current one and ends every session", async () => {
  const { bench, member, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  const other = (await bench.login("mia", people.member.password)).body.token;
  const put = (token: string, body: object, name = "mia") =>
    bench.ask("PUT", `/users/${name}/password`, { token, body });
  const password = "another password";
  const missing = await put(member, { password });
  assert.equal(missing.status, 422);
  assert.deepEqual(missing.body.error.issues[0].path, ["currentPassword"]);
  assert.equal((await put(admin, { password }, "ada")).status, 422);
  const wrong = await put(member, { password, currentPassword: "not this one" });
  assert.equal(wrong.status, 403);
  assert.deepEqual(wrong.body, { error: "current password is wrong" });
  assert.equal((await put(member, { password }, "ada")).status, 403);
  const done = await put(member, { password, currentPassword: people.member.password });
  assert.equal(done.status, 200);
  assert.equal(done.body.username, "mia");
  for (const token of [member, other]) {
    assert.equal((await bench.ask("GET", "/auth/me", { token })).status, 401);
  }
  assert.equal((await bench.login("mia", people.member.password)).status, 401);
  assert.equal((await bench.login("mia", password)).status, 200);
  assert.equal((await bench.ask("GET", "/auth/me", { token: admin })).status, 200);
});

Deno.test("an admin sets another's password without knowing it; two at once do not both win", async () => {
  const { bench, member, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  const answers = await Promise.all(
    ["password one", "password two"].map((password) =>
      bench.ask("PUT", "/users/mia/password", { token: admin, body: { password } })
    ),
  );
  assert.deepEqual(statuses(answers), [200, 409]);
  assert.equal((await bench.ask("GET", "/auth/me", { token: member })).status, 401);
  const won = answers[0]?.status === 200 ? "password one" : "password two";
  assert.equal((await bench.login("mia", won)).status, 200);
});

Deno.test("guessing the current password through the change is throttled like logins", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  const guess = () =>
    bench.ask("PUT", "/users/mia/password", {
      token: member,
      body: { password: "another password", currentPassword: "a guess" },
    });
  for (let tries = 0; tries < 10; tries += 1) assert.equal((await guess()).status, 403);
  const refused = await guess();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
});

Deno.test("a session issued while the password changes is worth nothing", async () => {
  const { bench } = await AuthBench.withPeople();
  await using _bench = bench;
  const race = await Promise.all([
    ...Array.from({ length: 8 }, () => bench.login("mia", people.member.password)),
    bench.auth.users.setPassword("mia", { password: "another password", current: null }),
    ...Array.from({ length: 8 }, () => bench.login("mia", people.member.password)),
  ]);
  for (const answer of race) {
    if (!("body" in answer) || answer.status !== 200) continue;
    const me = await bench.ask("GET", "/auth/me", { token: answer.body.token });
    assert.equal(me.status, 401);
  }
});

Deno.test("somebody of a deleted user's name is somebody else", async () => {
  const { bench, member, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  assert.equal((await bench.ask("DELETE", "/users/mia", { token: admin })).status, 200);
  assert.equal((await bench.ask("GET", "/auth/me", { token: member })).status, 401);
  const { role: _role, ...body } = people.member;
  assert.equal((await bench.ask("POST", "/users", { token: admin, body })).status, 201);
  assert.equal((await bench.ask("GET", "/auth/me", { token: member })).status, 401);
});
