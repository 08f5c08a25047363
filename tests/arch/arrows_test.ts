import assert from "node:assert/strict";
import { brokenRules, codeOnly, cycles, readSources } from "../../scripts/arrows.ts";

const root = new URL("../..", import.meta.url).pathname;

Deno.test("no forbidden arrow, door or cycle", async () => {
  assert.deepEqual(brokenRules(await readSources(root)), []);
});

Deno.test("the check sees a forbidden arrow, a door and a cycle", () => {
  const source = (path: string, text: string, ...imports: string[]) => ({ path, text, imports });
  const broken = brokenRules([
    source("ship/a.ts", "", "bridge/b.ts"),
    source("bridge/b.ts", "Deno.exit(1)", "bridge/c.ts"),
    source("bridge/c.ts", "", "bridge/b.ts"),
  ]);
  assert.ok(broken.some((line) => line.startsWith("ship/a.ts: bridge/b.ts")));
  assert.ok(broken.some((line) => line.startsWith("bridge/b.ts: Deno.exit")));
  assert.deepEqual(
    cycles([source("x.ts", "", "y.ts"), source("y.ts", "", "x.ts")]),
    ["import cycle: x.ts -> y.ts -> x.ts"],
  );
});

Deno.test("prose about a door is no use of it", () => {
  assert.equal(/Deno\.serve/.test(codeOnly('// Deno.serve\n"Deno.serve" /* Deno.serve */')), false);
});
