import assert from "node:assert/strict";
import { join } from "node:path";
import type { ArmorySyncState } from "../../shared/schema/armory.ts";
import { keptLog, MemoryArmory, ShipHome } from "../support/armory_support.ts";
import { failureOf } from "../support/grid_support.ts";

const hint = "0".repeat(64);

/** A bridge with an armory and a home to install it in. */
async function setUp() {
  const stack = new AsyncDisposableStack();
  const bridge = stack.use(await MemoryArmory.open());
  const home = stack.use(await ShipHome.make());
  bridge.put("skills/a/SKILL.md", "skill a");
  bridge.put("skills/a/run.sh", "#!/bin/sh\n", 0o755);
  bridge.put("skills/b/SKILL.md", "skill b");
  bridge.put("plugins/p/plugin.json", "{}");
  bridge.put("dotfiles/tool.conf", "x = 1\n");
  bridge.dotfileMap = { "tool.conf": "~/.config/tool/tool.conf" };
  const push = { bridgeUrl: bridge.url, revision: hint };
  return {
    bridge,
    home,
    push,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const counts = ({ install }: ArmorySyncState) =>
  install === null
    ? null
    : [install.skillCount, install.pluginCount, install.dotfileCount, install.removedCount];

Deno.test("a ship that never synced says so, and touches nothing", async () => {
  await using home = await ShipHome.make();
  await using armory = home.armory();
  await armory.start();
  assert.deepEqual(armory.state, {
    revision: null,
    bridgeUrl: null,
    syncedAt: null,
    fileCount: 0,
    install: null,
    lastError: null,
  });
  assert.deepEqual(await home.tree(), {});
  assert.deepEqual([...Deno.readDirSync(home.root)].map(({ name }) => name), ["home"]);
});

/** The first file is answered once a second is asked for: a ship that fetched one by one would wait. */
function holdUntilSecond(bridge: MemoryArmory): void {
  const second = Promise.withResolvers<void>();
  let files = 0;
  bridge.answer = async (what) => {
    if (what === "manifest") return null;
    files += 1;
    if (files === 2) second.resolve();
    const giveUp = setTimeout(second.resolve, 5_000);
    await second.promise;
    clearTimeout(giveUp);
    return null;
  };
}

Deno.test("a sync installs links into the cache, and its state outlives the ship", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  holdUntilSecond(bridge);
  let state: ArmorySyncState;
  {
    await using armory = home.armory({ shipToken: "secret" });
    await armory.start();
    state = await armory.sync(push);
    assert.deepEqual(armory.state, state);
  }
  const manifest = await bridge.manifest();
  assert.equal(state.revision, manifest.revision, "the hint is not what is applied");
  assert.equal(state.bridgeUrl, bridge.url);
  assert.equal(state.fileCount, 5);
  assert.deepEqual(counts(state), [3, 1, 1, 0]);
  assert.deepEqual(state.install?.conflicts, []);
  assert.deepEqual(state.install?.warnings, []);
  assert.equal(state.lastError, null);
  assert.ok(bridge.authorizations.every((one) => one === "Bearer secret"));
  assert.ok(bridge.concurrentMax > 1, "files are fetched side by side");
  for (const root of [".agents/skills", ".claude/skills"]) {
    assert.equal(await home.read(`${root}/a/SKILL.md`), "skill a");
    const link = await Deno.readLink(home.at(root, "a/SKILL.md"));
    assert.equal(link, join(home.state, "armory/current/skills/a/SKILL.md"));
    assert.equal((await Deno.stat(home.at(root, "a/run.sh"))).mode! & 0o777, 0o755);
  }
  assert.equal(await home.read(".agents/plugins/p/plugin.json"), "{}");
  assert.equal(await home.read(".config/tool/tool.conf"), "x = 1\n");
  const cached = join(home.state, "armory", manifest.revision, "skills/a/SKILL.md");
  assert.equal(await Deno.realPath(home.at(".claude/skills/a/SKILL.md")), cached);
  await using again = home.armory();
  await again.start();
  assert.deepEqual(again.state, state);
});

Deno.test("what is in the cache is not fetched again; what somebody changed there is", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  await using armory = home.armory();
  await armory.sync(push);
  bridge.asked.length = 0;
  await armory.sync(push);
  assert.deepEqual(bridge.asked, ["manifest"]);
  bridge.put("skills/c/SKILL.md", "skill c");
  bridge.put("skills/c/COPY.md", "skill a");
  bridge.put("skills/b/SKILL.md", "skill b", 0o755);
  bridge.asked.length = 0;
  await armory.sync(push);
  assert.deepEqual(bridge.asked, ["manifest", "skills/c/SKILL.md"]);
  assert.equal(await home.read(".claude/skills/c/COPY.md"), "skill a");
  assert.equal((await Deno.stat(home.at(".claude/skills/b/SKILL.md"))).mode! & 0o777, 0o755);
  await Deno.writeTextFile(home.at(".claude/skills/b/SKILL.md"), "scribble");
  bridge.asked.length = 0;
  await armory.sync(push);
  assert.deepEqual(bridge.asked, ["manifest", "skills/b/SKILL.md"]);
  assert.equal(await home.read(".claude/skills/b/SKILL.md"), "skill b");
});

Deno.test("what the armory drops is uninstalled; what others put there stays", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  await home.write(".claude/skills/own/SKILL.md", "mine");
  await using armory = home.armory();
  await armory.sync(push);
  await home.write(".agents/skills/a/note.txt", "mine too");
  for (const path of ["skills/a/SKILL.md", "skills/a/run.sh", "plugins/p/plugin.json"]) {
    bridge.files.delete(path);
  }
  bridge.dotfileMap = {};
  const state = await armory.sync(push);
  assert.deepEqual(counts(state), [1, 0, 0, 3], "an unmapped dotfile is still carried");
  const old = (await bridge.manifest()).revision;
  assert.deepEqual(await home.tree(), {
    ".agents/skills/a/note.txt": "= mine too",
    ".agents/skills/b/SKILL.md": `-> ${home.state}/armory/current/skills/b/SKILL.md`,
    ".claude/skills/b/SKILL.md": `-> ${home.state}/armory/current/skills/b/SKILL.md`,
    ".claude/skills/own/SKILL.md": "= mine",
  });
  const left = [...Deno.readDirSync(join(home.state, "armory"))].map(({ name }) => name).sort();
  assert.deepEqual(left, [".tmp", old, "current"].sort(), "the old revision is pruned");
  bridge.files.clear();
  assert.deepEqual(counts(await armory.sync(push)), [0, 0, 0, 1]);
});

Deno.test("a file that becomes a folder, and a folder that becomes a file", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  await using armory = home.armory();
  bridge.put("skills/x", "file");
  bridge.put("skills/y/z", "inside");
  await armory.sync(push);
  bridge.files.delete("skills/x");
  bridge.files.delete("skills/y/z");
  bridge.put("skills/x/in", "now inside");
  bridge.put("skills/y", "now a file");
  const state = await armory.sync(push);
  assert.deepEqual(state.install?.conflicts, []);
  assert.equal(await home.read(".claude/skills/x/in"), "now inside");
  assert.equal(await home.read(".claude/skills/y"), "now a file");
});

Deno.test("conflicts are left alone, reported, and not counted", async () => {
  await using grid = await setUp();
  const { home, push, bridge } = grid;
  await home.write(".claude/skills/a/SKILL.md", "mine");
  await home.write(".config/tool/tool.conf", "mine");
  await Deno.mkdir(home.at("elsewhere"));
  await Deno.symlink(home.at("elsewhere"), home.at(".claude/skills/b"));
  await using armory = home.armory();
  const state = await armory.sync(push);
  assert.deepEqual(state.install?.conflicts, [
    home.at(".claude/skills/a/SKILL.md"),
    home.at(".claude/skills/b/SKILL.md"),
    home.at(".config/tool/tool.conf"),
  ]);
  assert.deepEqual(counts(state), [3, 1, 0, 0], "the other directory carries them");
  assert.equal(await home.read(".claude/skills/a/SKILL.md"), "mine");
  assert.deepEqual([...Deno.readDirSync(home.at("elsewhere"))], [], "no link is followed");
  // Our own link, replaced by a file of the user's, is theirs from then on.
  await Deno.remove(home.at(".agents/skills/a/run.sh"));
  await home.write(".agents/skills/a/run.sh", "my own");
  bridge.files.delete("skills/a/run.sh");
  await armory.sync(push);
  assert.equal(await home.read(".agents/skills/a/run.sh"), "my own");
});

Deno.test("links that are not in the ledger are foreign, even into the cache", async () => {
  await using grid = await setUp();
  const { home, push } = grid;
  await Deno.mkdir(home.at(".claude/skills/a"), { recursive: true });
  const target = join(home.state, "armory/current/skills/a/SKILL.md");
  await Deno.symlink(target, home.at(".claude/skills/a/SKILL.md"));
  await using armory = home.armory();
  const state = await armory.sync(push);
  assert.deepEqual(state.install?.conflicts, [home.at(".claude/skills/a/SKILL.md")]);
});

Deno.test("dotfiles: home, roots, absolute, and what leads out", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  const outside = join(home.root, "outside");
  await Deno.mkdir(outside);
  await Deno.symlink(outside, home.at(".out"));
  await Deno.mkdir(home.at("real"));
  await Deno.symlink(home.at("real"), home.at(".alias"));
  for (const name of ["a", "b", "c", "d", "e"]) bridge.put(`dotfiles/${name}`, name);
  bridge.dotfileMap = {
    a: "~/.out/a",
    b: `${outside}/b`,
    c: "~/.alias/c",
    d: `${home.state}/d`,
    e: "~/real/c",
    missing: "~/missing",
  };
  await using armory = home.armory();
  const state = await armory.sync(push);
  assert.deepEqual(counts(state)?.[2], 2);
  assert.equal(await Deno.readTextFile(join(outside, "b")), "b");
  assert.equal(await home.read("real/c"), "c");
  const warnings = state.install?.warnings ?? [];
  assert.equal(warnings.length, 4, warnings.join("\n"));
  for (
    const part of [
      /dotfiles\/a .*out of the home/,
      /dotfiles\/d .*own state/,
      /dotfiles\/e .*another/,
    ]
  ) assert.ok(warnings.some((one) => part.test(one)), String(part));
  await using narrow = home.armory({ places: home.places({ dotfileRoots: [home.at("real")] }) });
  await narrow.start();
  assert.deepEqual(counts(await narrow.sync(push))?.[2], 1);
  assert.deepEqual([...Deno.readDirSync(outside)], [], "what a narrower root excludes goes");
});

Deno.test("a ship that asks nobody for a token warns of login files, of .ssh and of its pin", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  bridge.put("dotfiles/bashrc", "evil");
  bridge.put("dotfiles/keys", "evil");
  bridge.dotfileMap = { bashrc: "~/.bashrc", keys: "~/.ssh/authorized_keys" };
  const { log, lines } = keptLog();
  await using armory = home.armory({ authenticated: false, log });
  const { install } = await armory.sync(push);
  assert.match(install!.warnings.join("\n"), /~\/\.bashrc, which runs at login/);
  assert.match(install!.warnings.join("\n"), /authorized_keys, which lies under \.ssh/);
  assert.ok(lines.some((line) => line.includes("PINNED BY A STRANGER")), lines.join("\n"));
  await using trusted = home.armory();
  await trusted.start();
  assert.deepEqual((await trusted.sync(push)).install?.warnings, []);
});

Deno.test("a push of another bridge is refused before anything is fetched [armoryPinned]", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  await using other = await MemoryArmory.open();
  const foreign = { ...push, bridgeUrl: other.url };
  {
    await using armory = home.armory();
    await armory.sync(push);
    const failure = await failureOf("armoryPinned", () => armory.sync(foreign));
    assert.equal(failure.status, 403);
    assert.equal(
      failure.message,
      `armory push refused: this ship is pinned to bridge ${bridge.url} but the push named ${other.url}`,
    );
    assert.equal(armory.state.lastError, null);
  }
  await using restarted = home.armory();
  await restarted.start();
  await failureOf("armoryPinned", () => restarted.sync(foreign));
  await using flagged = home.armory({ bridgeUrl: other.url });
  await flagged.start();
  await failureOf("armoryPinned", () => flagged.sync(push));
  assert.deepEqual(other.asked, []);
});

Deno.test("of two first pushes at once one pins the ship", async () => {
  await using grid = await setUp();
  await using other = await MemoryArmory.open();
  await using armory = grid.home.armory();
  const results = await Promise.allSettled([
    armory.sync(grid.push),
    armory.sync({ ...grid.push, bridgeUrl: other.url }),
  ]);
  assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected"]);
  assert.deepEqual(other.asked, []);
});

Deno.test("a link-local bridge is not followed on a first push [bridgeUrlRefused]", async () => {
  await using home = await ShipHome.make();
  await using armory = home.armory({ resolve: () => Promise.resolve(["169.254.169.254"]) });
  for (const bridgeUrl of ["http://169.254.169.254", "http://metadata.example"]) {
    await failureOf("bridgeUrlRefused", () => armory.sync({ bridgeUrl, revision: hint }));
  }
});

Deno.test("pushes that come while a sync runs share one sync after it", async () => {
  await using grid = await setUp();
  const { bridge, home, push } = grid;
  await using armory = home.armory();
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  bridge.answer = async (what) => {
    if (what !== "manifest") return null;
    reached.resolve();
    await gate.promise;
    return null;
  };
  const first = armory.sync(push);
  await reached.promise;
  const later = [armory.sync(push), armory.sync(push), armory.sync(push)];
  bridge.put("skills/late/SKILL.md", "late");
  gate.resolve();
  const states = await Promise.all([first, ...later]);
  const { revision } = await bridge.manifest();
  assert.deepEqual(states.slice(1).map((state) => state.revision), [revision, revision, revision]);
  assert.equal(bridge.asked.filter((what) => what === "manifest").length, 2);
});

Deno.test("damaged state stops syncs, not the ship, and stays as it is", async () => {
  await using grid = await setUp();
  const { home, push } = grid;
  {
    await using armory = home.armory();
    await armory.sync(push);
  }
  const ledger = join(home.state, "armory-ledger.json");
  await Deno.writeTextFile(ledger, "{");
  await using armory = home.armory();
  await armory.start();
  assert.match(armory.state.lastError ?? "", /armory-ledger\.json/);
  const failure = await failureOf("armoryInstallFailed", () => armory.sync(push));
  assert.match(failure.message, /^armory install failed: cannot read .*left as it is/);
  assert.equal(await Deno.readTextFile(ledger), "{");
});
