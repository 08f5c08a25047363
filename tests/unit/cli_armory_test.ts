import assert from "node:assert/strict";
import { z } from "zod";
import { armoryManifestSchema, shipArmoryStateSchema } from "../../shared/schema/armory.ts";
import type { ShipName } from "../../shared/ids.ts";
import { cli } from "../support/cli_support.ts";
import { ScriptedBridge } from "../support/scripted_bridge.ts";

const revision = "ab".repeat(32);
const state = {
  revision,
  bridgeUrl: "http://localhost:4800",
  syncedAt: "2026-01-01T00:00:00.000Z",
  fileCount: 2,
  lastError: null,
  install: {
    skillCount: 1,
    pluginCount: 0,
    dotfileCount: 1,
    removedCount: 0,
    conflicts: ["/home/ada/.conf\u001b[2J"],
    warnings: ["dotfiles/x is not installed"],
    installedAt: "2026-01-01T00:00:00.000Z",
  },
};
const entry = { size: 2048, sha256: revision, mode: 0o644 } as const;
const armory = {
  revision,
  entries: [
    { ...entry, path: "dotfiles/conf", section: "dotfiles" },
    { ...entry, path: "dotfiles/lost", section: "dotfiles" },
    { ...entry, path: "skills/a/SKILL.md", section: "skills" },
  ],
  dotfileMap: { conf: "~/.conf" },
} satisfies z.infer<typeof armoryManifestSchema>;

async function withArmory(
  test: (bridge: ScriptedBridge, grid: (line: string) => ReturnType<typeof cli>) => Promise<void>,
): Promise<void> {
  const bridge = new ScriptedBridge();
  bridge.armory = armory;
  const ships = [
    ["aurora", state],
    ["borealis", { ...state, revision: "cd".repeat(32), lastError: "bridge answered 401" }],
    ["cosmos", { ...state, revision: null, install: null }],
    ["distant", null],
  ] as const;
  bridge.armoryShips = ships.map(([ship, state]) => ({
    ship: ship as ShipName,
    status: state === null ? "offline" : "online",
    state: structuredClone(state),
  }));
  await using server = await bridge.serve();
  await test(bridge, (line) => cli(line.split(" "), { url: server.url }));
}

Deno.test("cli armory status: current, behind, never, unknown; conflicts and errors", () =>
  withArmory(async (_, grid) => {
    const { code, out } = await grid("armory status");
    assert.equal(code, 0);
    assert.match(out, /revision abababababab\n/);
    assert.match(out, /3 files, 6\.0 KiB/);
    assert.match(out, /aurora +online +current +abababababab +2 +1 +-/);
    assert.match(out, /borealis +online +behind +cdcdcdcdcdcd +2 +1 +bridge answered 401/);
    assert.match(out, /cosmos +online +never synced +-/);
    assert.match(out, /distant +offline +unknown/);
    assert.ok(out.includes("/home/ada/.conf\\u001b[2J is not the ship's"), "escaped");
    const json = JSON.parse((await grid("armory status --json")).out);
    assert.equal(json.revision, revision);
    assert.equal(z.array(shipArmoryStateSchema).parse(json.ships).length, 4);
  }));

Deno.test("cli armory status: a broken map is told beside the ships", () =>
  withArmory(async (bridge, grid) => {
    bridge.armory = "/data/armory/dotfile-map.json";
    const { code, out } = await grid("armory status");
    assert.equal(code, 0);
    assert.match(out, /invalid \/data\/armory\/dotfile-map\.json:\n {2}"x": is wrong/);
    assert.match(out, /aurora +online +unknown/);
    const files = await grid("armory files");
    assert.equal(files.code, 1);
    assert.match(files.err, /dotfile-map\.json/);
  }));

Deno.test("cli armory files: what goes where, and an empty armory", () =>
  withArmory(async (bridge, grid) => {
    const { out } = await grid("armory files");
    assert.match(out, /dotfiles\/conf +2\.0 KiB +644 +~\/\.conf/);
    assert.match(out, /dotfiles\/lost .*nowhere/);
    assert.match(out, /skills\/a\/SKILL\.md .* skills\n/);
    armoryManifestSchema.parse(JSON.parse((await grid("armory files --json")).out));
    bridge.armory = { revision, entries: [], dotfileMap: {} };
    assert.match((await grid("armory files")).out, /the armory is empty/);
    assert.notEqual((await grid("armory sync")).code, 0, "no route triggers a sync");
  }));
