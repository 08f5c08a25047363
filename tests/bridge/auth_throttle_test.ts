import assert from "node:assert/strict";
import { addressKey, LoginThrottle, throttleKeysMax, waitMs } from "../../bridge/auth/throttle.ts";
import { ManualClock } from "../../shared/clock.ts";
import { Failure } from "../../shared/errors.ts";
import { AuthBench, people } from "../support/auth_support.ts";

const minute = 60_000;

Deno.test("the wait ends when the oldest failure that counts leaves the window", () => {
  const rule = { failuresMax: 3, windowMs: 100 };
  assert.equal(waitMs([], 0, rule), 0);
  assert.equal(waitMs([1, 2], 3, rule), 0);
  assert.equal(waitMs([1, 2, 3], 3, rule), 98);
  assert.equal(waitMs([1, 2, 3], 101, rule), 0);
  assert.equal(waitMs([0, 1, 2, 3], 3, rule), 98);
});

Deno.test("IPv6 counts by its /64, mapped IPv4 as IPv4", () => {
  assert.equal(addressKey("192.0.2.7"), "192.0.2.7");
  assert.equal(addressKey("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(addressKey("2001:db8:1:2:3:4:5:6"), addressKey("2001:0DB8:1:2::9"));
  assert.notEqual(addressKey("2001:db8:1:2::1"), addressKey("2001:db8:1:3::1"));
  assert.equal(addressKey("::1"), "0:0:0:0::/64");
  assert.equal(addressKey("fe80::1%eth0"), addressKey("fe80::2"));
});

Deno.test("ten failures of a username, then 429 with Retry-After, right password or not", async () => {
  await using bench = await AuthBench.open();
  await bench.auth.users.create(people.member);
  for (let tries = 0; tries < 10; tries += 1) {
    assert.equal((await bench.login("mia", "wrong password", `192.0.2.${tries}`)).status, 401);
  }
  const computations = bench.auth.hasher.computations;
  for (const password of ["wrong password", people.member.password]) {
    const refused = await bench.login("MIA", password, "198.51.100.1");
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "900");
    assert.match(refused.body.error, /^too many failed logins: try again in 900 s$/);
  }
  assert.equal(bench.auth.hasher.computations, computations);
  assert.equal((await bench.login("other", "wrong password", "198.51.100.1")).status, 401);
  bench.clock.jump(31 * 24 * 60 * minute);
  assert.equal((await bench.login("mia", people.member.password)).status, 429);
  bench.clock.advance(15 * minute - 1);
  assert.equal((await bench.login("mia", people.member.password)).status, 429);
  bench.clock.advance(1);
  assert.equal((await bench.login("mia", people.member.password)).status, 200);
});

Deno.test("fifty failures of an address, whatever the usernames", async () => {
  await using bench = await AuthBench.open();
  await bench.auth.users.create(people.member);
  for (let tries = 0; tries < 50; tries += 1) {
    assert.equal((await bench.login(`user${tries}`, "wrong password")).status, 401);
  }
  assert.equal((await bench.login("mia", people.member.password)).status, 429);
  assert.equal((await bench.login("mia", people.member.password, "192.0.2.2")).status, 200);
});

Deno.test("parallel guesses get ten computations, not more", async () => {
  await using bench = await AuthBench.open();
  await bench.auth.users.create(people.member);
  const before = bench.auth.hasher.computations;
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => bench.login("mia", "wrong password")),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 10);
  assert.equal(statuses.filter((status) => status === 429).length, 20);
  assert.equal(bench.auth.hasher.computations - before, 10);
});

Deno.test("right logins in parallel do not throttle each other", async () => {
  await using bench = await AuthBench.open();
  await bench.auth.users.create(people.member);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => bench.login("mia", people.member.password)),
  );
  assert.ok(answers.every(({ status }) => status === 200));
});

Deno.test("memory is bounded, and what has expired leaves it", () => {
  const clock = new ManualClock();
  const throttle = new LoginThrottle(clock);
  const failure = (usernameKey: string, address: string) => {
    using attempt = throttle.begin({ usernameKey, address });
    attempt.failed();
  };
  for (let index = 0; index < throttleKeysMax + 500; index += 1) {
    failure(`user${index}`, `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  }
  assert.equal(throttle.size, 2 * throttleKeysMax);
  clock.advance(16 * minute);
  failure("one", "10.200.0.1");
  assert.equal(throttle.size, 2);
});

Deno.test("an attempt that never ended well or badly is not counted", () => {
  const throttle = new LoginThrottle(new ManualClock());
  const guesser = { usernameKey: "mia", address: "192.0.2.1" };
  for (let tries = 0; tries < 20; tries += 1) throttle.begin(guesser)[Symbol.dispose]();
  const held = Array.from({ length: 10 }, () => throttle.begin(guesser));
  assert.throws(() => throttle.check(guesser), (thrown) => (thrown as Failure).status === 429);
  for (const attempt of held) attempt[Symbol.dispose]();
  throttle.check(guesser);
});
