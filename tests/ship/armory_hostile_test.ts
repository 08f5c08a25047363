import assert from "node:assert/strict";
import { join } from "node:path";
import { limits } from "../../shared/limits.ts";
import type { ArmoryEntry, ArmoryManifest } from "../../shared/schema/armory.ts";
import { brokenManifestRule, sensitiveReason } from "../../ship/armory/policy.ts";
import { MemoryArmory, ShipHome } from "../support/armory_support.ts";
import { failureOf } from "../support/grid_support.ts";

const sha256 = "0".repeat(64);
const entry = (path: string, size = 1): ArmoryEntry => ({
  path,
  section: path.split("/")[0] as "skills",
  size,
  sha256,
  mode: 0o644,
});
const manifest = (entries: ArmoryEntry[], dotfileMap = {}): ArmoryManifest => ({
  revision: sha256,
  entries,
  dotfileMap,
});

Deno.test("hostile manifests are refused whole", () => {
  const refused: Array<[ArmoryManifest, RegExp]> = [
    [manifest([{ ...entry("skills/a"), path: "/etc/passwd" }]), /is absolute/],
    [manifest([entry("skills/../../x")]), /has a \.\. component/],
    [manifest([entry("skills/./x")]), /has a \. component/],
    [manifest([entry("skills//x")]), /empty component/],
    [manifest([entry("skills/a\\b")]), /backslash/],
    [manifest([entry("skills/a\nb")]), /control character/],
    [manifest([entry("skills/a\u0000")]), /control character/],
    [manifest([entry("skills/\ud800")]), /well-formed/],
    [manifest([entry(`skills/${"x".repeat(256)}`)]), /more than 255 bytes/],
    [manifest([entry(`skills/${"x/".repeat(600)}x`)]), /more than 1024 bytes/],
    [manifest([{ ...entry("skills/a"), path: "" }]), /is empty/],
    [manifest([{ ...entry("skills/a"), section: "plugins" }]), /does not lie in plugins/],
    [manifest([entry("skills/a"), entry("skills/a")]), /listed twice/],
    [manifest([entry("skills/Read.md"), entry("skills/READ.md")]), /only in case/],
    [manifest([entry("skills/\u00e9"), entry("skills/e\u0301")]), /Unicode form/],
    [manifest([entry("skills/a"), entry("skills/A/b")]), /a file and a folder/],
    [manifest([entry("skills/a", limits.armoryTotalBytesMax), entry("skills/b")]), /bytes, more/],
    [manifest([], { "../x": "~/x" }), /dotfile map has a \.\./],
    [manifest([], { "x": "relative" }), /must be ~\/… or an absolute path/],
    [manifest([], { "x": "~/../x" }), /has a \.\. component/],
    [manifest([], { "x": "~root/x" }), /must be/],
    [manifest([], { "x": "/" }), /is empty/],
  ];
  for (const [hostile, why] of refused) assert.match(brokenManifestRule(hostile) ?? "", why);
  assert.equal(brokenManifestRule(manifest([entry("skills/a/b")], { "b": "~/.b" })), null);
});

Deno.test("which dotfiles deserve a warning", () => {
  for (const path of [".bashrc", ".Profile", ".config/autostart/x.desktop"]) {
    assert.equal(sensitiveReason(path), "runs at login", path);
  }
  assert.equal(sensitiveReason(".SSH/config"), "lies under .ssh/");
  assert.equal(sensitiveReason(".config/tool/.bashrc"), null);
});

/** A home that has applied a first revision, and a push of what the bridge has become since. */
async function applied() {
  const stack = new AsyncDisposableStack();
  const bridge = stack.use(await MemoryArmory.open());
  const home = stack.use(await ShipHome.make());
  const armory = stack.use(home.armory({ answerMs: 400 }));
  bridge.put("skills/a/SKILL.md", "first");
  const push = { bridgeUrl: bridge.url, revision: sha256 };
  const first = await armory.sync(push);
  const tree = await home.tree();
  bridge.put("skills/a/SKILL.md", "second");
  bridge.put("skills/b/SKILL.md", "more");
  return {
    bridge,
    /** Fails with this message, keeps the first revision, echoes nothing, and recovers. */
    async refuses(why: RegExp) {
      const failure = await failureOf("armoryPullFailed", () => armory.sync(push));
      assert.equal(failure.status, 502);
      assert.match(failure.message, why);
      assert.doesNotMatch(failure.message, /SECRET/);
      assert.deepEqual(armory.state, { ...first, lastError: failure.message });
      assert.deepEqual(await home.tree(), tree);
      assert.equal(await home.read(".claude/skills/a/SKILL.md"), "first");
      bridge.answer = () => null;
      bridge.forge = (manifest) => manifest;
      const state = await armory.sync(push);
      assert.equal(state.lastError, null);
      assert.equal(await home.read(".claude/skills/b/SKILL.md"), "more");
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Bridge = MemoryArmory;
const forged = (change: (manifest: ArmoryManifest) => unknown) => (bridge: Bridge) => {
  bridge.forge = (manifest) => {
    const copy = structuredClone(manifest);
    return change(copy) ?? copy;
  };
};
const file = (of: Record<string, unknown>) => (bridge: Bridge) => {
  bridge.answer = (what) =>
    what === "skills/b/SKILL.md"
      ? Response.json({
        path: what,
        section: "skills",
        size: 4,
        sha256: "a".repeat(64),
        mode: 0o644,
        encoding: "utf8",
        contents: "more",
        ...of,
      })
      : null;
};
const answers = (path: string, make: () => Response) => (bridge: Bridge) => {
  bridge.answer = (what) => what === path ? make() : null;
};
/** A body that begins and never ends. */
const stalled = () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    }),
  );
/** A body without end, as fast as it is read. */
const endless = () =>
  new Response(
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(32)),
    }),
  );

const lies: Array<[name: string, tell: (bridge: Bridge) => void, why: RegExp]> = [
  ["a path that leads out", forged((m) => void (m.entries[0] = entry("skills/../x"))), /refused/],
  ["a revision that is a path", forged((m) => ({ ...m, revision: "../x" })), /does not fit/],
  ["another mode", forged((m) => void Object.assign(m.entries[0]!, { mode: 0o4755 })), /not fit/],
  [
    "too many entries",
    forged((m) => ({
      ...m,
      entries: Array.from({ length: 10_001 }, (_, i) => entry(`skills/${i}`, 0)),
    })),
    /does not fit/,
  ],
  ["a negative size", forged((m) => void (m.entries[0]!.size = -1)), /does not fit/],
  ["a lying size", forged((m) => void (m.entries[1]!.size = 3)), /4 bytes where .* says 3/],
  ["a lying hash", forged((m) => void (m.entries[1]!.sha256 = sha256)), /do not match the sha256/],
  ["other bytes", file({ contents: "mora" }), /do not match the sha256/],
  ["another file", file({ path: "skills/a/SKILL.md" }), /another file/],
  ["no base64", file({ encoding: "base64", contents: "###" }), /not base64/],
  ["lone surrogates", file({ contents: "\ud800" }), /refused/],
  [
    "no manifest",
    answers("manifest", () => Response.json({ error: "SECRET" }, { status: 401 })),
    /^bridge answered 401 for the armory manifest$/,
  ],
  [
    "no file",
    answers("skills/b/SKILL.md", () => Response.json({ error: "SECRET" }, { status: 413 })),
    /^bridge answered 413 for the armory file skills\/b\/SKILL\.md$/,
  ],
  [
    "a redirect",
    answers("manifest", () => new Response(null, { status: 302, headers: { location: "/x" } })),
    /answered 302/,
  ],
  ["no JSON", answers("manifest", () => new Response("SECRET")), /does not fit/],
  ["a slow manifest", answers("manifest", stalled), /did not answer for the armory manifest/],
  ["a slow file", answers("skills/b/SKILL.md", stalled), /did not answer for the armory file/],
  ["an endless manifest", answers("manifest", endless), /too large|did not answer/],
  ["an endless file", answers("skills/b/SKILL.md", endless), /too large/],
];

for (const [name, tell, why] of lies) {
  Deno.test(`${name} fails the whole sync and keeps the last revision [armoryPullFailed]`, async () => {
    await using grid = await applied();
    tell(grid.bridge);
    await grid.refuses(why);
  });
}

Deno.test("a bridge that nobody answers for [armoryPullFailed]", async () => {
  await using home = await ShipHome.make();
  await using armory = home.armory();
  const push = { bridgeUrl: "http://127.0.0.1:1", revision: sha256 };
  const { message } = await failureOf("armoryPullFailed", () => armory.sync(push));
  assert.match(message, /^bridge did not answer for the armory manifest: /);
  assert.equal(armory.state.lastError, message);
  assert.equal(armory.state.revision, null);
});

Deno.test("one revision with other contents shows all of them or none", async () => {
  await using grid = await applied();
  const { bridge } = grid;
  bridge.files.delete("skills/b/SKILL.md");
  bridge.put("skills/a/SKILL.md", "first");
  const { revision } = await bridge.manifest();
  bridge.put("skills/a/SKILL.md", "second");
  bridge.put("skills/b/SKILL.md", "more");
  bridge.forge = (manifest) => ({ ...manifest, revision });
  file({ contents: "mora" })(bridge);
  await grid.refuses(/do not match/);
});

Deno.test("links planted in the cache are not followed [armoryInstallFailed]", async () => {
  await using home = await ShipHome.make();
  await using bridge = await MemoryArmory.open();
  bridge.put("skills/a/SKILL.md", "text");
  const { revision } = await bridge.manifest();
  const planted = join(home.state, "armory", revision);
  await Deno.mkdir(planted, { recursive: true });
  await Deno.mkdir(home.at("victim"));
  await Deno.symlink(home.at("victim"), join(planted, "skills"));
  await using armory = home.armory();
  const push = { bridgeUrl: bridge.url, revision };
  const failure = await failureOf("armoryInstallFailed", () => armory.sync(push));
  assert.equal(failure.status, 500);
  assert.match(failure.message, /^armory install failed: .*through a link/);
  assert.deepEqual(await home.tree(), { victim: "empty" });
});
