import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AuthStore } from "../../bridge/auth/store.ts";
import { AuthStoreError } from "../../bridge/auth/store_file.ts";
import type { ShipName } from "../../shared/ids.ts";
import { AuthBench, openKv, people } from "../support/auth_support.ts";

async function inDirectory(work: (path: string, directory: string) => Promise<void>) {
  const directory = await Deno.makeTempDir({ prefix: "grid-auth-" });
  try {
    await work(join(directory, "auth.db"), directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** A sound database that was in use, closed. */
async function sound(path: string): Promise<void> {
  using store = await AuthStore.open(path, openKv);
  for (let index = 0; index < 200; index += 1) {
    await store.kv.set(["filler", index], "x".repeat(200));
  }
}

async function refused(path: string): Promise<void> {
  const before = await Deno.readFile(path);
  await assert.rejects(AuthStore.open(path, openKv), (thrown) => {
    assert.ok(thrown instanceof AuthStoreError, String(thrown));
    assert.ok(thrown.message.includes(path));
    assert.match(thrown.message, /restore it from a backup, or move it away/);
    return true;
  });
  assert.deepEqual(await Deno.readFile(path), before, "the file was changed");
}

Deno.test("the database and what SQLite puts beside it are for the owner alone", async () => {
  const umask = Deno.umask(0);
  try {
    await using bench = await AuthBench.open();
    await bench.auth.users.create(people.member);
    const seen = [];
    for await (const { name } of Deno.readDir(bench.directory)) {
      const { mode } = await Deno.stat(join(bench.directory, name));
      assert.equal((mode ?? 0) & 0o777, 0o600, name);
      seen.push(name);
    }
    assert.deepEqual(seen.sort(), ["audit.jsonl", "auth.db", "auth.db-shm", "auth.db-wal"]);
  } finally {
    Deno.umask(umask);
  }
});

Deno.test("a database that others may read is closed to them", () =>
  inDirectory(async (path) => {
    await sound(path);
    await Deno.chmod(path, 0o644);
    using _store = await AuthStore.open(path, openKv);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  }));

Deno.test("what was stored is there after another start", async () => {
  const first = await AuthBench.open();
  const user = await first.auth.users.create(people.member);
  const { token } = await first.auth.sessions.issue(user);
  await first.close();
  await using second = await AuthBench.open({ directory: first.directory });
  const me = await second.ask("GET", "/auth/me", { token });
  assert.deepEqual(me.body, { username: "mia", email: "mia@grid.example", role: "member" });
});

Deno.test("text, garbage, a cut and a damaged database stop the start and stay as they are", () =>
  inDirectory(async (path, directory) => {
    const kept = join(directory, "sound.db");
    await sound(kept);
    const bytes = await Deno.readFile(kept);
    const page = 4096;
    const damages: Record<string, Uint8Array> = {
      text: new TextEncoder().encode("this is no database\n".repeat(500)),
      garbage: crypto.getRandomValues(new Uint8Array(8 * page)),
      cut: bytes.slice(0, page + 100),
      header: bytes.slice().fill(0x5a, 100, page),
      pages: bytes.slice().fill(0x5a, page, 5 * page),
    };
    for (const damage of Object.values(damages)) {
      await Deno.writeFile(path, damage);
      await refused(path);
      await Deno.remove(path);
    }
  }));

Deno.test("databases of other programs and unknown versions stop the start", () =>
  inDirectory(async (path, directory) => {
    const foreign = new DatabaseSync(path);
    foreign.exec("create table notes (text); insert into notes values ('mine')");
    foreign.close();
    await refused(path);

    const otherKv = join(directory, "other.db");
    {
      const kv = await Deno.openKv(otherKv);
      await kv.set(["theirs"], 1);
      kv.close();
    }
    await assert.rejects(AuthStore.open(otherKv, openKv), /of some other program/);

    const newer = join(directory, "newer.db");
    {
      using store = await AuthStore.open(newer, openKv);
      await store.kv.set(["version"], 2);
    }
    await assert.rejects(AuthStore.open(newer, openKv), /version is 2.* knows 1 alone/);
    await assert.rejects(AuthStore.open(directory, openKv), /not a regular file/);
    await assert.rejects(AuthStore.open(join(directory, "no", "auth.db"), openKv), /be created/);
  }));

Deno.test("an empty file, as a crash at the first start leaves it, is a new database", () =>
  inDirectory(async (path) => {
    await Deno.writeTextFile(path, "");
    using store = await AuthStore.open(path, openKv);
    assert.equal((await store.kv.get(["version"])).value, 1);
  }));

Deno.test("no secret stands in the database but the bridgeToken", async () => {
  await using bench = await AuthBench.open();
  const ship = "alpha" as ShipName;
  const user = await bench.auth.users.create(people.member);
  const { token } = await bench.auth.sessions.issue(user);
  const { bridgeToken, shipToken } = await bench.auth.shipCredentials.provision(ship);
  const agentToken = await bench.auth.agentTokens.mint(ship);
  const ticket = await bench.ticket(token);
  await bench.login("mia", people.member.password);
  const raw = await bench.rawDatabase();
  assert.ok(raw.includes(bridgeToken), "the search must be able to find something");
  const secrets = { password: people.member.password, token, shipToken, agentToken, ticket };
  for (const [name, secret] of Object.entries(secrets)) assert.ok(!raw.includes(secret), name);
  await bench.audit.flush();
  const audit = await Deno.readTextFile(join(bench.directory, "audit.jsonl"));
  for (const [name, secret] of Object.entries({ ...secrets, bridgeToken })) {
    assert.ok(!audit.includes(secret), name);
  }
});
