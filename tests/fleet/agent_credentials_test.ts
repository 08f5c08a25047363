/** The token that a ship's agents call the bridge with: minted, pushed, confirmed, renewed, revoked. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { AgentTokens } from "../../bridge/auth/agent_tokens.ts";
import { AuthStore } from "../../bridge/auth/store.ts";
import { AgentCredentialPush } from "../../bridge/fleet/agent_credentials.ts";
import { createLog } from "../../shared/log.ts";
import { openKv } from "../support/auth_support.ts";
import { FleetRig } from "../support/fleet_rig.ts";
import { until } from "../support/listen_support.ts";
import { ShipDouble } from "../support/ship_double.ts";

interface Bench extends AsyncDisposable {
  readonly rig: FleetRig;
  readonly tokens: AgentTokens;
  readonly push: AgentCredentialPush;
  readonly logged: string[];
}

async function bench(): Promise<Bench> {
  const rig = await FleetRig.start();
  const store = await AuthStore.open(join(rig.directory, "auth.db"), openKv);
  const tokens = new AgentTokens(store);
  const logged: string[] = [];
  const push = new AgentCredentialPush({
    fleet: rig.fleet,
    tokens,
    bridgeUrl: () => "http://bridge.example:4800",
    log: createLog("human", (line) => void logged.push(line)),
  });
  return {
    rig,
    tokens,
    push,
    logged,
    async [Symbol.asyncDispose]() {
      await rig.stop();
      await push[Symbol.asyncDispose]();
      store[Symbol.dispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
}

const tokenAt = (ship: ShipDouble, index: number) => ship.agentCredentials[index]?.token ?? "";

async function becomesVoid(tokens: AgentTokens, token: string): Promise<void> {
  for (let tries = 0; await tokens.shipOfToken(token) !== null; tries += 1) {
    assert.ok(tries < 500, "the token stays good");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test("agent token: a ship that registers gets one, as does one that was online already", async () => {
  await using early = await ShipDouble.start("early");
  await using late = await ShipDouble.start("late");
  await using b = await bench();
  await b.rig.register(early);
  b.push.start();
  await b.rig.register(late);
  for (const ship of [early, late]) {
    await until("pushed", () => ship.agentCredentials.length === 1);
    assert.equal(ship.agentCredentials[0]?.bridgeUrl, "http://bridge.example:4800");
    assert.equal(await b.tokens.shipOfToken(tokenAt(ship, 0)), ship.name);
  }
  assert.notEqual(tokenAt(early, 0), tokenAt(late, 0));
});

Deno.test("agent token: a reconnect renews it, and voids the one before once the new has arrived", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using b = await bench();
  b.push.start();
  await b.rig.register(alpha);
  await until("pushed", () => alpha.agentCredentials.length === 1);
  alpha.script.agentCredentials = () => Response.json({ error: "not now" }, { status: 500 });
  alpha.cut();
  alpha.mend();
  await until("refused", () => b.logged.some((line) => line.includes("not now")));
  assert.equal(await b.tokens.shipOfToken(tokenAt(alpha, 0)), "alpha", "it still holds the first");
  delete alpha.script.agentCredentials;
  alpha.cut();
  alpha.mend();
  await until("pushed again", () => alpha.agentCredentials.length === 2);
  assert.equal(await b.tokens.shipOfToken(tokenAt(alpha, 1)), "alpha");
  await becomesVoid(b.tokens, tokenAt(alpha, 0));
  assert.ok(!b.logged.join().includes(tokenAt(alpha, 1)));
});

Deno.test("agent token: a ship that leaves the roster loses it", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using b = await bench();
  b.push.start();
  await b.rig.register(alpha);
  await until("pushed", () => alpha.agentCredentials.length === 1);
  assert.equal((await b.rig.ask("DELETE", "/ships/alpha")).status, 200);
  await becomesVoid(b.tokens, tokenAt(alpha, 0));
});
