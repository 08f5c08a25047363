import assert from "node:assert/strict";
import { join } from "node:path";
import { armorySyncStateSchema } from "../../shared/schema/armory.ts";
import type { SyncStep } from "../../ship/armory/armory.ts";
import { MemoryArmory, ShipHome } from "../support/armory_support.ts";
import { failureOf } from "../support/grid_support.ts";

const runner = new URL("../support/armory_runner.ts", import.meta.url).pathname;

interface Ended {
  readonly signal: string | null;
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(home: ShipHome, args: readonly string[], shell = ""): Promise<Ended> {
  const command = [Deno.execPath(), "run", "-A", "--cached-only", "--no-check", runner, home.root];
  const { signal, code, stdout, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", `${shell} exec "$@"`, "sh", ...command, ...args],
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { signal, code, out: text(stdout), err: text(stderr) };
}

function first(bridge: MemoryArmory): void {
  bridge.files.clear();
  bridge.put("skills/a/SKILL.md", "one");
  bridge.put("skills/b/SKILL.md", "one");
  bridge.put("skills/gone/SKILL.md", "one");
  bridge.put("dotfiles/conf", "one");
  bridge.dotfileMap = { conf: "~/.conf" };
}

function second(bridge: MemoryArmory): void {
  bridge.files.clear();
  bridge.put("skills/a/SKILL.md", "two");
  bridge.put("skills/b/SKILL.md", "two");
  bridge.put("skills/new/SKILL.md", "two");
  bridge.put("dotfiles/conf", "two");
  bridge.put("dotfiles/more", "two");
  bridge.dotfileMap = { conf: "~/.conf", more: "~/.more" };
}

/** What is visible of the armory: path to contents; a link to nothing is not visible. */
async function visible(home: ShipHome): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  for (const path of Object.keys(await home.tree())) {
    const text = await home.read(path).catch(() => null);
    if (text !== null) seen[path] = text;
  }
  return seen;
}

const steps: ReadonlyArray<readonly [SyncStep, number]> = [
  ["manifest", 1],
  ["file", 1],
  ["file", 3],
  ["filled", 1],
  ["complete", 1],
  ["intent", 1],
  ["linked", 1],
  ["switched", 1],
  ["removed", 1],
  ["ledger", 1],
  ["state", 1],
  ["pruned", 1],
];

for (const [step, count] of steps) {
  Deno.test(`kill -9 at "${step}" ${count}: one revision is visible, and the next start mends`, async () => {
    await using bridge = await MemoryArmory.open();
    await using home = await ShipHome.make();
    await home.write(".claude/skills/b/mine.txt", "mine");
    const push = { bridgeUrl: bridge.url, revision: "" };
    first(bridge);
    {
      await using armory = home.armory();
      await armory.sync(push);
    }
    const one = await visible(home);
    second(bridge);
    const killed = await run(home, [bridge.url, step, String(count)]);
    assert.equal(killed.code, 137, killed.err);
    const after = await visible(home);
    assert.equal(after[".claude/skills/b/mine.txt"], "mine");
    const texts = new Set(Object.values(after));
    texts.delete("mine");
    assert.equal(texts.size, 1, `a mixture is visible: ${JSON.stringify(after)}`);
    const before = texts.has("one");
    if (before) assert.deepEqual(after, one);

    await using armory = home.armory();
    await armory.start();
    const resumed = await home.tree();
    for (const path of Object.keys(resumed)) {
      assert.notEqual(await home.read(path).catch(() => null), null, `${path} leads to nothing`);
    }
    const state = armory.state;
    assert.equal(state.lastError, null);
    const shown = await Deno.readLink(join(home.state, "armory/current"));
    assert.equal(state.revision, shown);
    assert.equal(state.fileCount, before ? 4 : 5);

    const done = await armory.sync(push);
    assert.equal(done.revision, (await bridge.manifest()).revision);
    assert.deepEqual(done.install?.conflicts, []);
    assert.deepEqual(await visible(home), {
      ".agents/skills/a/SKILL.md": "two",
      ".agents/skills/b/SKILL.md": "two",
      ".agents/skills/new/SKILL.md": "two",
      ".claude/skills/a/SKILL.md": "two",
      ".claude/skills/b/SKILL.md": "two",
      ".claude/skills/b/mine.txt": "mine",
      ".claude/skills/new/SKILL.md": "two",
      ".conf": "two",
      ".more": "two",
    });
    assert.equal(Object.keys(await home.tree()).length, 9, "nothing is left behind");
    const cache = [...Deno.readDirSync(join(home.state, "armory"))].map(({ name }) => name);
    assert.equal(cache.length, 3, cache.join(" "));
    assert.deepEqual([...Deno.readDirSync(join(home.state, "armory/.tmp"))], []);
  });
}

Deno.test("kill -9 in the very first sync leaves nothing that the next start does not mend", async () => {
  for (const step of ["intent", "linked", "switched"]) {
    await using bridge = await MemoryArmory.open();
    await using home = await ShipHome.make();
    first(bridge);
    const killed = await run(home, [bridge.url, step]);
    assert.equal(killed.code, 137, killed.err);
    await using armory = home.armory();
    await armory.start();
    const paths = Object.keys(await home.tree());
    if (step === "switched") assert.equal(paths.length, 7);
    else assert.deepEqual(paths, []);
    assert.equal(armory.state.revision === null, step !== "switched");
  }
});

Deno.test("a full disk: the last revision stays, the reason is told, space comes back [armoryInstallFailed]", async () => {
  await using bridge = await MemoryArmory.open();
  await using home = await ShipHome.make();
  first(bridge);
  const push = { bridgeUrl: bridge.url, revision: "" };
  {
    await using armory = home.armory();
    await armory.sync(push);
  }
  const before = await visible(home);
  second(bridge);
  bridge.put("skills/big/data", new Uint8Array(4 * 1024 * 1024));
  // No file of this process may grow past 1 MiB: the write fails as it does on a full disk.
  const limited = await run(home, [bridge.url], 'trap "" XFSZ; ulimit -f 2048;');
  assert.equal(limited.code, 1, limited.err);
  assert.match(limited.err, /^armory install failed: .*(too large|os error 27)/i);
  const state = armorySyncStateSchema.parse(JSON.parse(limited.out));
  assert.match(state.lastError ?? "", /^armory install failed/);
  assert.equal(state.fileCount, 4, "the last revision");
  assert.deepEqual(await visible(home), before);
  const cache = [...Deno.readDirSync(join(home.state, "armory"))].map(({ name }) => name);
  assert.equal(cache.length, 3, "what did not fit is gone again");
  await using armory = home.armory();
  await armory.start();
  assert.match(armory.state.lastError ?? "", /^armory install failed/, "kept over the restart");
  assert.equal((await armory.sync(push)).lastError, null);
});

Deno.test("an installation that cannot link undoes what it did [armoryInstallFailed]", async () => {
  await using bridge = await MemoryArmory.open();
  await using home = await ShipHome.make();
  first(bridge);
  await using armory = home.armory({ lnPath: "/bin/false" });
  const push = { bridgeUrl: bridge.url, revision: "" };
  await failureOf("armoryInstallFailed", () => armory.sync(push));
  assert.equal(armory.state.revision, null);
  const files = Object.values(await home.tree()).filter((text) => text !== "empty");
  assert.deepEqual(files, []);
});
