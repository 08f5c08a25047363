import assert from "node:assert/strict";
import { argon2id, passwordCost, PasswordHasher } from "../../bridge/auth/password.ts";
import { encodePhc, parsePhc } from "../../bridge/auth/phc.ts";
import { Failure } from "../../shared/errors.ts";
import { AuthBench, cheapCost, people } from "../support/auth_support.ts";

const filled = (bytes: number, value: number) => new Uint8Array(bytes).fill(value);

Deno.test("Argon2id gives the tag of RFC 9106, section 5.3", async () => {
  const tag = await argon2id(filled(32, 1), {
    memoryKiB: 32,
    passes: 3,
    parallelism: 4,
    salt: filled(16, 2),
    secret: filled(8, 3),
    associatedData: filled(12, 4),
    bytes: 32,
  });
  assert.equal(tag.toHex(), "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659");
});

Deno.test("a new hash has the decided cost, and says so", async () => {
  const phc = await new PasswordHasher().turn((turn) => turn.hash("correct horse"));
  assert.match(phc, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  const parsed = parsePhc(phc);
  assert.ok(parsed !== null);
  assert.equal(encodePhc(parsed), phc);
  assert.equal(parsed.salt.length, 16);
  assert.equal(parsed.tag.length, 32);
});

Deno.test("a password fits its hash and no other, and each hash has its own salt", async () => {
  const hasher = new PasswordHasher(cheapCost);
  await hasher.turn(async (turn) => {
    const phc = await turn.hash("correct horse");
    assert.deepEqual(await turn.verify("correct horse", phc), { fits: true, outdated: false });
    assert.equal((await turn.verify("correct horsf", phc)).fits, false);
    assert.equal((await turn.verify("", phc)).fits, false);
    assert.notEqual(await turn.hash("correct horse"), phc);
  });
});

Deno.test("what is no Argon2id string within bounds is none", () => {
  const salt = "AAAAAAAAAAAAAAAAAAAAAA";
  const good = `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${salt}`;
  assert.ok(parsePhc(good) !== null);
  for (
    const bad of [
      "",
      good.replace("argon2id", "argon2i"),
      good.replace("v=19", "v=16"),
      good.replace("m=19456", "m=1073741824"),
      good.replace("m=19456", "m=7"),
      good.replace("t=2", "t=0"),
      good.replace("t=2", "t=65"),
      good.replace("p=1", "p=17"),
      good.replace(salt, "AAAA"),
      good + "$",
      good + "=",
      good.replace("m=19456,t=2", "t=2,m=19456"),
    ]
  ) assert.equal(parsePhc(bad), null, bad);
});

Deno.test("two compute at once, 32 wait, and the rest hear 503", async () => {
  const hasher = new PasswordHasher(cheapCost);
  let running = 0;
  let runningMax = 0;
  const gate = Promise.withResolvers<void>();
  const turns = Array.from({ length: 60 }, () =>
    hasher.turn(async () => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await gate.promise;
      running -= 1;
    }));
  const settled = Promise.allSettled(turns);
  gate.resolve();
  const refused = (await settled).filter((one) => one.status === "rejected");
  assert.equal(runningMax, 2);
  assert.equal(refused.length, 60 - 2 - 32);
  for (const { reason } of refused) {
    assert.ok(reason instanceof Failure);
    assert.equal(reason.status, 503);
    assert.ok((reason.retryAfterSeconds ?? 0) > 0);
  }
  await hasher.turn(() => Promise.resolve());
});

Deno.test("a login under an older cost stores the new one, and both passwords stay one", async () => {
  await using bench = await AuthBench.open();
  const old = await new PasswordHasher({ memoryKiB: 16, passes: 1, parallelism: 1 })
    .turn((turn) => turn.hash(people.member.password));
  const user = await bench.auth.users.create(people.member);
  await bench.auth.users.rehash(user, old);
  const hashNow = async () => {
    for await (const { value } of bench.store.kv.list<typeof user>({ prefix: ["user"] })) {
      return value.passwordHash;
    }
  };
  assert.equal(await hashNow(), old);
  assert.equal((await bench.login("mia", people.member.password)).status, 200);
  const renewed = await hashNow();
  assert.match(renewed ?? "", /\$m=8,t=1,p=1\$/);
  assert.equal((await bench.login("mia", people.member.password)).status, 200);
  assert.equal(await hashNow(), renewed);
});

Deno.test("an unknown user and a wrong password cost one computation of the same size", async () => {
  await using bench = await AuthBench.open({ cost: passwordCost });
  await bench.auth.users.create(people.member);
  const { hasher } = bench.auth;
  const cost = async (username: string) => {
    const before = hasher.computations;
    const answer = await bench.login(username, "not the password");
    assert.equal(answer.status, 401);
    assert.deepEqual(answer.body, { error: "invalid username or password" });
    return hasher.computations - before;
  };
  assert.equal(await cost("mia"), 1);
  assert.equal(await cost("nobody"), 1);
  assert.equal(await cost("no/name"), 1);
  assert.equal(await cost("x".repeat(100_000)), 1);
});
