import assert from "node:assert/strict";
import { join } from "node:path";
import { Audit, auditFilesKeptMax } from "../../bridge/auth/audit.ts";
import { InsecureBanner, insecureBannerText } from "../../bridge/auth/insecure_banner.ts";
import { ManualClock } from "../../shared/clock.ts";
import { silentLog } from "../../shared/log.ts";
import { AuthBench, people } from "../support/auth_support.ts";

const now = () => new Date("2026-01-01T00:00:00Z");
const entry = (target: string) => ({
  actor: "user/ada",
  action: "ship.register" as const,
  target,
  outcome: "ok" as const,
  address: "192.0.2.1",
});

async function inDirectory(work: (path: string) => Promise<void>) {
  const directory = await Deno.makeTempDir({ prefix: "grid-audit-" });
  try {
    await work(join(directory, "audit.jsonl"));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("what people do is written down, with how it ended and from where", async () => {
  const { bench, admin } = await AuthBench.withPeople();
  await using _bench = bench;
  const { token } = (await bench.login("mia", people.member.password)).body;
  await bench.login("mia", "wrong password");
  await bench.login("my secret password", "oops");
  await bench.ask("POST", "/auth/logout", { token });
  await bench.ask("DELETE", "/users/ada", { token: admin });
  await bench.ask("PUT", "/users/mia/role", { token: admin, body: { role: "admin" } });
  await bench.ask("DELETE", "/users/mia", { token: admin });
  const address = "192.0.2.1";
  const at = bench.clock.now().toISOString();
  const by = (actor: string, action: string, target: string, outcome: string) => ({
    ...{ at, actor, action, target, outcome, address },
  });
  assert.deepEqual(await bench.auditLines(), [
    by("anonymous", "login", "mia", "ok"),
    by("anonymous", "login", "mia", "invalidLogin"),
    by("anonymous", "login", "(no such user)", "invalidLogin"),
    by("user/mia", "logout", "mia", "ok"),
    by("user/ada", "user.delete", "ada", "lastAdmin"),
    by("user/ada", "user.role", "mia", "ok"),
    by("user/ada", "user.delete", "mia", "ok"),
  ]);
});

Deno.test("the log is rotated at its size, and so many old ones are kept", () =>
  inDirectory(async (path) => {
    {
      await using audit = new Audit({ path, log: silentLog, now, bytesMax: 400 });
      await audit.start();
      for (let line = 0; line < 100; line += 1) audit.record(entry(`line ${line}`));
    }
    const names = [...Deno.readDirSync(join(path, ".."))].map(({ name }) => name).sort();
    assert.equal(names.length, 1 + auditFilesKeptMax);
    let newest = 99;
    for (const suffix of ["", ...Array.from({ length: 8 }, (_, n) => `.${n + 1}`)]) {
      const { size, mode } = await Deno.stat(path + suffix);
      assert.ok(size <= 400);
      assert.equal((mode ?? 0) & 0o777, 0o600);
      const lines = (await Deno.readTextFile(path + suffix)).trimEnd().split("\n").reverse();
      for (const line of lines) assert.equal(JSON.parse(line).target, `line ${newest--}`);
    }
  }));

Deno.test("a line that a crash cut short does not spoil the next, nor does a target with newlines", () =>
  inDirectory(async (path) => {
    await Deno.writeTextFile(path, '{"at":"whole"}\n{"at":"cut', { mode: 0o644 });
    {
      await using audit = new Audit({ path, log: silentLog, now });
      await audit.start();
      audit.record(entry("a\nb\u0007"));
    }
    const lines = (await Deno.readTextFile(path)).split("\n");
    assert.equal(lines.length, 4);
    assert.equal(JSON.parse(lines[2]!).target, "a\nb\u0007");
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  }));

Deno.test("a log that cannot be written is reported, and stops nobody", () =>
  inDirectory(async (path) => {
    const errors: string[] = [];
    const log = { ...silentLog, error: (message: string) => void errors.push(message) };
    // Nothing has been opened, and here nothing can be.
    await using audit = new Audit({ path: join(path, "nowhere", "audit.jsonl"), log, now });
    audit.record(entry("x"));
    await audit.flush();
    assert.deepEqual(errors, ["could not write the audit log"]);
    await assert.rejects(audit.start());
  }));

Deno.test("the banner of an insecure bridge comes again every minute while it runs", () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  {
    using banner = new InsecureBanner(clock, (line) => lines.push(line));
    banner.start();
    assert.deepEqual(lines, [insecureBannerText]);
    clock.advance(180_000);
    assert.equal(lines.length, 4);
  }
  clock.advance(180_000);
  assert.equal(lines.length, 4);
});
