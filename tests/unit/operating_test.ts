import assert from "node:assert/strict";
import { bridgeFlags } from "../../bridge/config.ts";
import { shipFlags } from "../../ship/config.ts";

const text = await Deno.readTextFile(new URL("../../docs/OPERATING.md", import.meta.url));
const section = (name: string) => text.split(`### ${name}`)[1]?.split("\n###")[0] ?? "";

for (const [name, flags] of [["Ship", shipFlags], ["Bridge", bridgeFlags]] as const) {
  Deno.test(`operating: the flags of the ${name.toLowerCase()} are all told, and no others`, () => {
    const told = [...section(name).matchAll(/^\| `--([a-z-]+)`/gm)].map((match) => match[1]);
    assert.deepEqual(told.toSorted(), [...flags.values, ...flags.switches].toSorted());
  });
}
