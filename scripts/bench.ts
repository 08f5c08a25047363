/**
 * `deno task bench [part]`: the figures of Workspace Grid in one table, ratios first. A ratio compares two
 * things measured in the same run, so that it says something on any machine. `deno task bench terminal <words>`
 * takes only the figures whose name holds those words.
 */
import { join } from "node:path";
import { type Figure, figureTable } from "../tests/bench/figures.ts";
import { createBench, listBench, memoryBench } from "../tests/bench/ship_bench.ts";
import { loadBench, relayBench } from "../tests/bench/relay_bench.ts";

const authSamples = 60;

const parts: Readonly<Record<string, () => Promise<Figure[]>>> = {
  list: listBench,
  create: createBench,
  relay: relayFigures,
  memory: memoryBench,
  auth: () =>
    apart(`authentication (${authSamples} samples)`, "auth_bench.ts", String(authSamples)),
  armory: () => apart("armory", "armory_bench.ts"),
  terminal: () => apart("terminal", "terminal/run.ts", ...Deno.args.slice(1)),
};

async function relayFigures(): Promise<Figure[]> {
  const { relayPerSecond, directPerSecond, ratio } = await relayBench();
  return [
    { name: "requests through the relay / Deno.serve alone", value: ratio, unit: "ratio" },
    { name: "requests through the relay", value: relayPerSecond, unit: "per second" },
    { name: "requests of Deno.serve alone", value: directPerSecond, unit: "per second" },
    ...await loadBench(),
  ];
}

/** A bench that prints its own table; it runs apart, for it measures memory or starts a clock of its own. */
async function apart(title: string, file: string, ...args: string[]): Promise<Figure[]> {
  const script = join(import.meta.dirname ?? ".", "../tests/bench", file);
  console.log(title);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--cached-only", script, ...args],
  }).spawn().status;
  if (!success) throw new Error(`the figures of ${title} could not be taken`);
  console.log();
  return [];
}

const wanted = Deno.args[0];
if (wanted !== undefined && !Object.hasOwn(parts, wanted)) {
  console.error(`there is no part ${wanted}: choose from ${Object.keys(parts).join(", ")}`);
  Deno.exit(2);
}
const figures: Figure[] = [];
for (const [name, part] of Object.entries(parts)) {
  if (wanted === undefined || wanted === name) figures.push(...await part());
}
if (figures.length > 0) console.log(figureTable(figures));
