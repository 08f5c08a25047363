/** A whole bridge and whole ships: what a person who edits the armory gets. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { armorySyncStateSchema, type ShipArmoryState } from "../../shared/schema/armory.ts";
import { adminPassword, TestBridge } from "../support/bridge_process.ts";
import { within } from "../support/listen_support.ts";
import { TestShip } from "../support/ship_support.ts";

async function put(bridge: TestBridge, path: string, text: string): Promise<void> {
  const whole = join(bridge.dataDirectory, "armory", path);
  await Deno.mkdir(dirname(whole), { recursive: true });
  await Deno.writeTextFile(whole, text);
}

/** Registers a ship. */
async function register(bridge: TestBridge, token: string | null, body: unknown): Promise<void> {
  const response = await bridge.ask("POST", "/ships", { token, body });
  assert.equal(response.status, 201, await response.text());
}

/** Asks again and again until `test` holds of the states. */
async function statesWhen(
  bridge: TestBridge,
  token: string | null,
  test: (states: ShipArmoryState[]) => boolean,
): Promise<ShipArmoryState[]> {
  const asking = async () => {
    for (;;) {
      const response = await bridge.ask("GET", "/armory/ships", { token });
      const states: ShipArmoryState[] = await response.json();
      assert.equal(response.status, 200);
      if (test(states)) return states;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  };
  return await within("the ships' states", asking(), 20_000);
}

Deno.test("registration installs the armory, a change reaches the ship, tokens on both sides", async () => {
  await using bridge = await TestBridge.start({ ships: ["ark"] });
  const pair = bridge.answer.ships[0]!;
  const { bridgeToken, shipToken } = pair;
  await using ship = await TestShip.start({ bridgeToken, shipToken });
  const token = await bridge.login("ada", adminPassword);
  await put(bridge, "skills/a/SKILL.md", "one");
  assert.equal((await ship.ask("GET", "/armory", { token: null })).status, 401);
  const cold = armorySyncStateSchema.parse((await ship.ask("GET", "/armory")).json);
  assert.equal(cold.revision, null);
  await register(bridge, token, { url: ship.url, bridgeToken, shipToken });
  const [state] = await statesWhen(bridge, token, ([one]) => one?.state?.install?.skillCount === 1);
  assert.equal(state?.ship, "ark");
  const installed = join(ship.root, "home/.claude/skills/a/SKILL.md");
  assert.equal(await Deno.readTextFile(installed), "one");
  await put(bridge, "skills/a/SKILL.md", "two");
  const manifest = async () => await (await bridge.ask("GET", "/armory", { token })).json();
  const { revision } = await manifest();
  await statesWhen(bridge, token, ([one]) => one?.state?.revision === revision);
  assert.equal(await Deno.readTextFile(installed), "two");
  const other = { bridgeUrl: "http://other.example", revision };
  const refused = await ship.ask("POST", "/armory/sync", { body: other });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /pinned to bridge http:\/\/localhost:\d+ but the push named http/);
  for (const invalid of [{}, { bridgeUrl: "file:///etc", revision }, { bridgeUrl: 3, revision }]) {
    assert.equal((await ship.ask("POST", "/armory/sync", { body: invalid })).status, 422);
  }
  await put(bridge, "skills/large", "x".repeat(10 * 1024 * 1024 + 1));
  const [behind] = await statesWhen(bridge, token, ([one]) => one?.state?.lastError !== null);
  assert.equal(
    behind?.state?.lastError,
    "bridge answered 413 for the armory file skills/large",
  );
  assert.equal(behind?.state?.revision, revision);
});

Deno.test("a ship without its token is told 401, and its workspaces do not mind", async () => {
  await using bridge = await TestBridge.start();
  await using ship = await TestShip.start({ bridgeToken: null });
  const token = await bridge.login("ada", adminPassword);
  await register(bridge, token, { url: ship.url });
  const [state] = await statesWhen(bridge, token, ([one]) => one?.state?.lastError !== null);
  assert.equal(state?.state?.lastError, "bridge answered 401 for the armory manifest");
  assert.equal(state?.state?.revision, null);
  await ship.create("fix");
  const found = await bridge.ask("GET", "/workspaces/repo/fix", { token });
  assert.equal(found.status, 200, await found.text());
});

Deno.test("an insecure bridge serves its armory to a ship without tokens", async () => {
  await using bridge = await TestBridge.start({ insecure: true });
  await put(bridge, "plugins/p/plugin.json", "{}");
  await using ship = await TestShip.start({ bridgeToken: null });
  await register(bridge, null, { url: ship.url });
  await statesWhen(bridge, null, ([one]) => one?.state?.install?.pluginCount === 1);
  assert.ok(ship.warnings.some((line) => line.startsWith("PINNED BY A STRANGER")));
});
