import assert from "node:assert/strict";
import { revokedClose } from "../../bridge/auth/live_sockets.ts";
import { ticketsPerUserMax } from "../../bridge/auth/tickets.ts";
import { dial, DialError } from "../../shared/host/dial.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { AuthBench, people } from "../support/auth_support.ts";
import { until, within } from "../support/listen_support.ts";

const day = 24 * 60 * 60_000;
const upgradeHeaders = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
};

const open = async (bench: AuthBench, ticket: string) =>
  await dial(await bench.socketUrl(`?ticket=${ticket}`), { openTimeoutMs: 5_000 });

/** The status with which the socket is refused. */
async function refusal(bench: AuthBench, query: string): Promise<number | undefined> {
  try {
    const socket = await dial(await bench.socketUrl(query), { openTimeoutMs: 5_000 });
    socket.terminate();
  } catch (thrown) {
    assert.ok(thrown instanceof DialError);
    return thrown.status;
  }
}

Deno.test("a login gives a token of 32 bytes for 30 days, and what it is good for", async () => {
  const { bench } = await AuthBench.withPeople();
  await using _bench = bench;
  const { status, body } = await bench.login("MIA", people.member.password);
  assert.equal(status, 200);
  assert.match(body.token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(Date.parse(body.expiresAt) - bench.clock.now().getTime(), 30 * day);
  assert.equal(body.user.username, "mia");
  assert.deepEqual(Object.keys(body.user).sort(), ["createdAt", "email", "role", "username"]);
  const me = await bench.ask("GET", "/auth/me", { token: body.token });
  assert.deepEqual(me.body, { username: "mia", email: "mia@grid.example", role: "member" });
});

Deno.test("wrong user and wrong password are answered alike", async () => {
  const { bench } = await AuthBench.withPeople();
  await using _bench = bench;
  const answers = [await bench.login("mia", "wrong password"), await bench.login("nobody", "x")];
  for (const { status, body } of answers) {
    assert.equal(status, 401);
    assert.deepEqual(body, { error: "invalid username or password" });
  }
  assert.equal((await bench.ask("POST", "/auth/login", { body: { username: "mia" } })).status, 422);
});

Deno.test("a session ends after 30 days and is not extended by use", async () => {
  const { bench, member: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const status = async () => (await bench.ask("GET", "/auth/me", { token })).status;
  for (let days = 0; days < 29; days += 1) {
    assert.equal(await status(), 200);
    bench.clock.advance(day);
  }
  bench.clock.advance(day - 1);
  assert.equal(await status(), 200);
  bench.clock.advance(1);
  assert.equal(await status(), 401);
  assert.equal(await bench.auth.sessions.purge(), 2);
  assert.equal(await bench.auth.sessions.purge(), 0);
});

Deno.test("a wall clock that jumps neither ends a session nor prolongs it", async () => {
  for (const jump of [31 * day, -31 * day]) {
    const { bench, member: token } = await AuthBench.withPeople();
    await using _bench = bench;
    const status = async () => (await bench.ask("GET", "/auth/me", { token })).status;
    const ticket = await bench.ticket(token);
    bench.clock.jump(jump);
    assert.equal(await status(), 200);
    assert.ok(bench.auth.tickets.redeem(ticket) !== null);
    bench.clock.advance(30 * day);
    assert.equal(await status(), 401);
  }
});

Deno.test("the 30 days go on over a restart", async () => {
  const first = await AuthBench.open();
  const user = await first.auth.users.create(people.member);
  const { token, expiresAt } = await first.auth.sessions.issue(user);
  await first.close();
  const at = new Date(expiresAt.getTime() - 1_000);
  await using second = await AuthBench.open({ directory: first.directory, at });
  assert.equal((await second.ask("GET", "/auth/me", { token })).status, 200);
  second.clock.advance(1_000);
  assert.equal((await second.ask("GET", "/auth/me", { token })).status, 401);
});

Deno.test("logout revokes one session, and answers anybody", async () => {
  const { bench, member: token } = await AuthBench.withPeople();
  await using _bench = bench;
  const other = (await bench.login("mia", people.member.password)).body.token;
  for (const ask of [{}, { token: "nobody's" }, { token }, { token }]) {
    const answer = await bench.ask("POST", "/auth/logout", ask);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { ok: true });
  }
  assert.equal((await bench.ask("GET", "/auth/me", { token })).status, 401);
  assert.equal((await bench.ask("GET", "/auth/me", { token: other })).status, 200);
});

Deno.test("a role change counts from the next request on", async () => {
  const { bench, member, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  assert.equal((await bench.ask("GET", "/users", { token: member })).status, 403);
  await bench.ask("PUT", "/users/mia/role", { token: admin, body: { role: "admin" } });
  assert.equal((await bench.ask("GET", "/users", { token: member })).status, 200);
});

Deno.test("of a hundred parallel uses of a ticket one wins", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  const ticket = await bench.ticket(member);
  const uses = await Promise.all(Array.from({ length: 100 }, () =>
    // In process no socket can open: the winner gets as far as the upgrade (426), the others do not.
    bench.ask("GET", `/events?ticket=${ticket}`, { headers: upgradeHeaders })));
  const statuses = uses.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(99).fill(401), 426]);
});

Deno.test("a ticket opens one socket, and after 30 seconds none", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  const answer = await bench.ask("POST", "/auth/ws-ticket", { token: member });
  assert.equal(answer.status, 200);
  assert.equal(Date.parse(answer.body.expiresAt) - bench.clock.now().getTime(), 30_000);
  const socket = await open(bench, answer.body.ticket);
  assert.equal(await refusal(bench, `?ticket=${answer.body.ticket}`), 401);
  socket.terminate();
  const early = await bench.ticket(member);
  const late = await bench.ticket(member);
  bench.clock.advance(29_999);
  (await open(bench, early)).terminate();
  bench.clock.advance(1_001);
  assert.equal(await refusal(bench, `?ticket=${late}`), 401);
  await until("the sockets are forgotten", () => bench.auth.liveSockets.size === 0);
});

Deno.test("only a genuine upgrade uses a ticket up", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  const ticket = await bench.ticket(member);
  const path = `/events?ticket=${ticket}`;
  assert.equal((await bench.ask("GET", path)).status, 401);
  assert.equal((await bench.ask("GET", path, { token: member })).status, 403);
  for (const missing of Object.keys(upgradeHeaders)) {
    const headers = Object.fromEntries(
      Object.entries(upgradeHeaders).filter(([name]) => name !== missing),
    );
    assert.equal((await bench.ask("GET", path, { headers })).status, 401, missing);
  }
  const badKey = { ...upgradeHeaders, "sec-websocket-key": "short" };
  assert.equal((await bench.ask("GET", path, { headers: badKey })).status, 401);
  assert.equal((await bench.ask("POST", path, { headers: upgradeHeaders })).status, 401);
  (await open(bench, ticket)).terminate();
});

Deno.test("a socket wants a ticket: no session, no ship's token, no invention", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  assert.equal(await refusal(bench, ""), 401);
  assert.equal(await refusal(bench, "?ticket="), 401);
  assert.equal(await refusal(bench, `?ticket=${member}`), 401);
  const headers = upgradeHeaders;
  assert.equal((await bench.ask("GET", "/events", { token: member, headers })).status, 403);
  const ticket = await bench.ticket(member);
  assert.equal((await bench.ask("GET", `/users?ticket=${ticket}`, { headers })).status, 403);
  assert.equal((await bench.ask("GET", `/users?ticket=${ticket}`, { headers })).status, 401);
});

Deno.test("a user has a bounded number of tickets, the newest", async () => {
  const { bench, member, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  const others = await bench.ticket(admin);
  const first = await bench.ticket(member);
  for (let count = 0; count < ticketsPerUserMax; count += 1) await bench.ticket(member);
  assert.equal(bench.auth.tickets.size, ticketsPerUserMax + 1);
  assert.equal(bench.auth.tickets.redeem(first), null);
  assert.ok(bench.auth.tickets.redeem(others) !== null);
  bench.clock.advance(30_000);
  await bench.ticket(member);
  assert.equal(bench.auth.tickets.size, 1);
});

const revocations: Record<string, (bench: AuthBench, token: string) => Promise<unknown>> = {
  "logout": (bench, token) => bench.ask("POST", "/auth/logout", { token }),
  "password change": (bench) =>
    bench.auth.users.setPassword("mia", { password: "another password", current: null }),
  "role change": (bench) => bench.auth.users.setRole("mia", "admin"),
  "deletion": (bench) => bench.auth.users.remove("mia"),
};
for (const [name, revoke] of Object.entries(revocations)) {
  Deno.test(`${name} closes the user's sockets and voids their tickets, nobody else's`, async () => {
    const { bench, member, admin } = await AuthBench.withPeople();
    await using _bench = bench;
    const mine = await open(bench, await bench.ticket(member));
    const others = await open(bench, await bench.ticket(admin));
    const unused = await bench.ticket(member);
    const othersUnused = await bench.ticket(admin);
    const closed = new Promise<[number, string]>((resolve) =>
      mine.onClose((code, reason) => resolve([code, reason]))
    );
    await revoke(bench, member);
    assert.deepEqual(await within("the socket closes", closed, 1_000), [
      revokedClose.code,
      revokedClose.reason,
    ]);
    assert.equal(await refusal(bench, `?ticket=${unused}`), 401);
    assert.equal(others.closed, false);
    (await open(bench, othersUnused)).terminate();
    others.terminate();
  });
}

/** A peer that never answers the closing handshake, as far as the registry can see of one. */
class DeafSocket {
  closed = false;
  asked: number | null = null;
  #onClose: (() => void)[] = [];
  close(code: number): void {
    this.asked = code;
  }
  terminate(): void {
    this.closed = true;
    for (const handler of this.#onClose) handler();
  }
  onClose(handler: Parameters<Socket["onClose"]>[0]): void {
    this.#onClose.push(() => handler(1006, ""));
  }
}

Deno.test("a peer that does not answer the close is cut off within the second", async () => {
  const { bench, member } = await AuthBench.withPeople();
  await using _bench = bench;
  const { liveSockets, sessions } = bench.auth;
  const session = await sessions.ofToken(member);
  assert.ok(session !== null);
  const principal = {
    kind: "ticket" as const,
    userId: session.user.id,
    username: "mia",
    email: "",
    role: "member" as const,
    sessionHash: session.hash,
    sessionExpiresAtMs: session.expiresAtMs,
    revocationMark: liveSockets.mark(session.user.id),
  };
  const deaf = new DeafSocket();
  liveSockets.register(principal, deaf);
  liveSockets.revokeUser(principal.userId);
  assert.equal(deaf.asked, 1008);
  bench.clock.advance(1_000);
  assert.ok(deaf.closed);
  assert.equal(liveSockets.size, 0);

  const late = new DeafSocket();
  liveSockets.register(principal, late);
  assert.equal(late.asked, 1008, "revoked between the ticket and the opening");
  bench.clock.advance(1_000);
  assert.ok(late.closed);

  const expiring = new DeafSocket();
  liveSockets.register(
    { ...principal, revocationMark: liveSockets.mark(principal.userId) },
    expiring,
  );
  bench.auth.start();
  bench.clock.advance(30 * day - 120_000);
  assert.equal(expiring.asked, null);
  bench.clock.advance(120_000);
  assert.equal(expiring.asked, 1008, "the session's 30 days are over");
});
