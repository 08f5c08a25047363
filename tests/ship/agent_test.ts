import assert from "node:assert/strict";
import { AgentMemory } from "../../ship/agent/memory.ts";
import { AgentTokens } from "../../ship/agent/tokens.ts";
import { workspaceId } from "../support/ids_support.ts";

const [one, two] = [workspaceId("r", "one"), workspaceId("r", "two")];
const init = { model: "m", provider: "p", harness: "h" };

Deno.test("a status before init is refused, after it changes only state and description", () => {
  const memory = new AgentMemory();
  assert.equal(memory.get(one), null);
  assert.throws(() => memory.update(one, { state: "building", description: "x" }), {
    message: "agent not initialized: r/one",
    status: 400,
  });
  assert.equal(memory.get(one), null);
  assert.deepEqual(memory.init(one, init), { state: "idle", description: "", ...init });
  const updated = memory.update(one, { state: "building", description: "x" });
  assert.deepEqual(updated, { state: "building", description: "x", ...init });
  assert.deepEqual(memory.get(one), updated);
  assert.equal(memory.get(two), null);
});

Deno.test("init starts over, clear forgets one workspace", () => {
  const memory = new AgentMemory();
  memory.init(one, init);
  memory.init(two, { ...init, description: "two" });
  memory.update(one, { state: "verifying", description: "x" });
  assert.equal(memory.init(one, { ...init, model: "n" }).state, "idle");
  assert.deepEqual(memory.get(one), { state: "idle", description: "", ...init, model: "n" });
  memory.clear(one);
  assert.equal(memory.get(one), null);
  assert.equal(memory.get(two)?.description, "two");
  assert.throws(() => memory.update(one, { state: "idle", description: "" }));
});

Deno.test("a token opens its own workspace until it is revoked or minted anew", () => {
  const tokens = new AgentTokens();
  const first = tokens.mint(one);
  const other = tokens.mint(two);
  assert.match(first, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(tokens.verify(first), one);
  assert.deepEqual(tokens.verify(other), two);
  for (const wrong of ["", "x", first.slice(1), `${first} `, first.toUpperCase()]) {
    assert.equal(tokens.verify(wrong), null, wrong);
  }
  const second = tokens.mint(one);
  assert.notEqual(second, first);
  assert.equal(tokens.verify(first), null);
  assert.deepEqual(tokens.verify(second), one);
  tokens.revoke(one);
  tokens.revoke(one);
  assert.equal(tokens.verify(second), null);
  assert.deepEqual(tokens.verify(other), two);
});
