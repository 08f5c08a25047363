import assert from "node:assert/strict";
import { statusRows, untestedRows } from "../status_rows.ts";

const tests = new URL("..", import.meta.url);
const areas = { ship: ["ship"], bridge: ["bridge", "fleet"] } as const;

/** Test names as they stand in the files: the first string of each `Deno.test(` or `t.step(`. */
async function namesIn(area: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(new URL(`${area}/`, tests))) {
    if (!entry.name.endsWith("_test.ts")) continue;
    const text = await Deno.readTextFile(new URL(`${area}/${entry.name}`, tests));
    const literals = text.matchAll(/(?:test|step)\(\s*(["'`])((?:(?!\1)[^\n])*)\1/g);
    names.push(...[...literals].map((match) => match[2]!));
  }
  return names;
}

Deno.test("every row of the interface's status tables has a test that raises it", async () => {
  const named = [];
  for (const server of ["ship", "bridge"] as const) {
    for (const area of areas[server]) {
      for (const name of await namesIn(area)) named.push({ server, name });
    }
  }
  assert.deepEqual(untestedRows(named), []);
});

Deno.test("a row without a test is found", () => {
  assert.equal(untestedRows([]).length, statusRows.length);
});
