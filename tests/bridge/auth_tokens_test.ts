import assert from "node:assert/strict";
import type { ShipName } from "../../shared/ids.ts";
import { AuthBench } from "../support/auth_support.ts";

const alpha = "alpha" as ShipName;
const beta = "beta" as ShipName;

Deno.test("a ship's pair is bound to its name, replaced by a new one and gone with the ship", async () => {
  await using bench = await AuthBench.open();
  const ships = bench.auth.shipCredentials;
  assert.equal(await ships.bridgeToken(alpha), null);
  await ships.save(alpha, { bridgeToken: "b1", shipToken: "s1" });
  assert.equal(await ships.bridgeToken(alpha), "b1");
  assert.equal(await ships.shipOfToken("s1"), alpha);
  assert.equal(await ships.shipOfToken("b1"), null);
  await ships.save(alpha, { bridgeToken: "b2", shipToken: "s2" });
  assert.equal(await ships.shipOfToken("s1"), null);
  assert.equal(await ships.shipOfToken("s2"), alpha);
  await ships.save(alpha, null);
  await ships.remove(alpha);
  assert.equal(await ships.bridgeToken(alpha), null);
  assert.equal(await ships.shipOfToken("s2"), null);
});

Deno.test("ships that share a pair each keep it until they go", async () => {
  await using bench = await AuthBench.open();
  const ships = bench.auth.shipCredentials;
  await Promise.all(
    [alpha, beta].map((ship) => ships.save(ship, { bridgeToken: "b", shipToken: "s" })),
  );
  await ships.remove(alpha);
  assert.equal(await ships.shipOfToken("s"), beta);
  await ships.remove(beta);
  assert.equal(await ships.shipOfToken("s"), null);
});

Deno.test("a provisioned pair keeps its bridgeToken and rotates its shipToken", async () => {
  await using bench = await AuthBench.open();
  const ships = bench.auth.shipCredentials;
  const first = await ships.provision(alpha);
  const second = await ships.provision(alpha);
  assert.match(first.bridgeToken, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(second.bridgeToken, first.bridgeToken);
  assert.notEqual(second.shipToken, first.shipToken);
  assert.equal(await ships.shipOfToken(first.shipToken), null);
  assert.equal(await ships.shipOfToken(second.shipToken), alpha);
});

Deno.test("saves in parallel leave one pair and no stray token", async () => {
  await using bench = await AuthBench.open();
  const ships = bench.auth.shipCredentials;
  const tokens = Array.from({ length: 8 }, (_, n) => `s${n}`);
  await Promise.all(
    tokens.map((shipToken) => ships.save(alpha, { bridgeToken: "b", shipToken })),
  );
  const known = await Promise.all(tokens.map((token) => ships.shipOfToken(token)));
  assert.equal(known.filter((ship) => ship === alpha).length, 1);
});

Deno.test("an agent token is good until the ship has confirmed a later one", async () => {
  await using bench = await AuthBench.open();
  const { agentTokens } = bench.auth;
  const [first, second, third] = [
    await agentTokens.mint(alpha),
    await agentTokens.mint(alpha),
    await agentTokens.mint(alpha),
  ];
  assert.equal(await agentTokens.shipOfToken(first), null);
  assert.equal(await agentTokens.shipOfToken(second), alpha);
  assert.equal(await agentTokens.shipOfToken(third), alpha);
  await agentTokens.confirm(alpha, third);
  assert.equal(await agentTokens.shipOfToken(second), null);
  assert.equal(await agentTokens.shipOfToken(third), alpha);
  const others = await agentTokens.mint(beta);
  await agentTokens.revoke(alpha);
  assert.equal(await agentTokens.shipOfToken(third), null);
  assert.equal(await agentTokens.shipOfToken(others), beta);
});
