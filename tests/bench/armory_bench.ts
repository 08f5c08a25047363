/**
 * What the armory costs: `deno run -A tests/bench/armory_bench.ts`. A sync of 1,000 files with 50 MiB, cold
 * and warm, against `cp -r` (and `rsync` where it is installed) of the same tree; the manifest of 10,000 files
 * cold and warm; the time from a change on the bridge's disk to its being installed on a ship.
 */
import { join } from "node:path";
import { ArmoryDistribution } from "../../bridge/armory/distribution.ts";
import { armoryHandlers } from "../../bridge/armory/routes.ts";
import { Armory } from "../../bridge/armory/serve.ts";
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { shipApi } from "../../shared/api/ship_api.ts";
import { systemClock } from "../../shared/clock.ts";
import { EventHub } from "../../shared/event_hub.ts";
import { findProgram } from "../../shared/host/files.ts";
import { listen } from "../../shared/host/listen.ts";
import { Client } from "../../shared/http/client.ts";
import { router } from "../../shared/http/router.ts";
import type { ShipName } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { ShipHome } from "../support/armory_support.ts";

const gate = { identify: () => null, authorize: () => {} };
const show = (name: string, value: string) => console.log(`${name.padEnd(48)} ${value}`);
const ms = (value: number) => `${value.toFixed(0)} ms`;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function fill(directory: string, files: number, bytes: number): Promise<void> {
  const contents = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) {
    crypto.getRandomValues(contents.subarray(at, Math.min(bytes, at + 65_536)));
  }
  for (let index = 0; index < files; index += 1) {
    const folder = join(directory, `skills/s${Math.floor(index / 10)}`);
    if (index % 10 === 0) await Deno.mkdir(folder, { recursive: true });
    if (bytes >= 4) new DataView(contents.buffer).setUint32(0, index);
    await Deno.writeFile(join(folder, `file${index % 10}`), contents);
  }
}

async function copies(from: string, to: string): Promise<Array<[string, number]>> {
  const results: Array<[string, number]> = [];
  for (const [name, args] of [["cp", ["-r"]], ["rsync", ["-a"]]] as const) {
    const path = await findProgram(name, Deno.env.get("PATH") ?? "");
    if (path === null) continue;
    const command = () =>
      new Deno.Command(path, { args: [...args, `${from}/.`, `${to}-${name}`] }).output();
    results.push([`${name}, cold`, await timed(command)], [`${name}, warm`, await timed(command)]);
  }
  return results;
}

await using home = await ShipHome.make();
const directory = join(home.root, "armory");
const armory = new Armory({ directory, clock: systemClock, log: silentLog });
await using ship = home.armory();
const shipTable = { armoryState: shipApi.armoryState, syncArmory: shipApi.syncArmory };
const shipListener = await listen({
  hostname: "127.0.0.1",
  port: 0,
  fetch: router({
    table: shipTable,
    gate,
    log: silentLog,
    handlers: { armoryState: () => ship.state, syncArmory: ({ body }) => ship.sync(body) },
  }),
});
const client = new Client({
  table: shipApi,
  baseUrl: shipListener.url,
  timeoutMs: 120_000,
  replyBytesMax: 1 << 24,
});
let bridgeUrl = "";
const distribution = new ArmoryDistribution({
  armory,
  fleet: {
    arrivals: new EventHub(),
    links: () => [{ name: "ship" as ShipName, status: "online", client }],
  },
  bridgeUrl: () => bridgeUrl,
  clock: systemClock,
  log: silentLog,
});
const { armoryManifest, armoryFile, armoryShips } = bridgeApi;
const bridgeListener = await listen({
  hostname: "127.0.0.1",
  port: 0,
  fetch: router({
    table: { armoryManifest, armoryFile, armoryShips },
    gate,
    log: silentLog,
    handlers: armoryHandlers({ armory, distribution }),
  }),
});
bridgeUrl = bridgeListener.url;
const push = { bridgeUrl, revision: "" };

await fill(directory, 1_000, 50 * 1024);
// Page cache and compiled code alike for everybody.
await copies(directory, join(home.root, "first"));
const cold = await timed(() => ship.sync(push));
const warm = await timed(() => ship.sync(push));
show("sync of 1,000 files, 50 MiB, cold", ms(cold));
show("sync of 1,000 files, 50 MiB, warm", ms(warm));
for (const [name, took] of await copies(directory, join(home.root, "copy"))) {
  const own = name.endsWith("cold") ? cold : warm;
  show(`${name}`, `${ms(took)}; the sync takes ${(own / took).toFixed(1)} times as long`);
}

distribution.start();
await distribution.states();
const changes: number[] = [];
for (let round = 0; round < 5; round += 1) {
  const text = `round ${round}`;
  // Until the push at the start, or that of the round before, is over.
  await ship.sync(push);
  changes.push(
    await timed(async () => {
      await Deno.writeTextFile(join(directory, "skills/s0/file0"), text);
      while (await Deno.readTextFile(home.at(".claude/skills/s0/file0")) !== text) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }),
  );
}
show("from a change to its being installed, median", ms(changes.sort((a, b) => a - b)[2]!));
await distribution[Symbol.asyncDispose]();

await Deno.remove(directory, { recursive: true });
await fill(directory, 10_000, 1024);
const large = new Armory({ directory, clock: systemClock, log: silentLog });
show("manifest of 10,000 files, cold", ms(await timed(() => large.manifest())));
// Files that have just changed are read again, in case they change within one tick of the clock.
await new Promise((resolve) => setTimeout(resolve, 1_500));
await large.manifest();
show("manifest of 10,000 files, warm", ms(await timed(() => large.manifest())));
await bridgeListener.shutdown();
await shipListener.shutdown();
