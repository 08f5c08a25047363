/**
 * `deno task bench terminal`: our terminal beside its peers, each with a tmux session of the same options, one
 * after the other on this machine; ratios first. Peers that are not installed are named and left out.
 */
import { fileURLToPath } from "node:url";
import { messageOf } from "../../../shared/errors.ts";
import { Place } from "../../support/grid_process.ts";
import { gridKind, RunningGrid } from "./grid_peer.ts";
import { ownNetwork, runInNamespace } from "./network.ts";
import { bareKind, moshKind, rawKind, ttydKind } from "./other_peers.ts";
import { bashProfile, type BenchPlace, type Peer, type PeerKind, type Size } from "./peer.ts";
import { crowd } from "./crowd.ts";
import { rates } from "./rates.ts";
import { crowdTable, goals, type Measured, ratesTable, report } from "./report.ts";
import {
  cat,
  echo,
  floodBytes,
  floodedEcho,
  fullScreen,
  interrupt,
  settled,
  vimBytes,
  warmUp,
} from "./workloads.ts";

const usual: Size = { cols: 80, rows: 24 };
const large: Size = { cols: 200, rows: 50 };
const slowBytesPerSecond = 64 * 1024;
const crowdTerminals = 100;
/** What no compression makes smaller. */
const noise = "base64 /dev/urandom";

const inside = await runInNamespace(fileURLToPath(import.meta.url), Deno.args);
if (inside !== null) Deno.exit(inside);

const network = ownNetwork();
await using place = await Place.make();
await Deno.writeTextFile(place.at("home", ".bash_profile"), bashProfile);
const log = place.at("tmp", "log");
await writeLog(log, 50 * 1024 * 1024);
const text = place.at("tmp", "text");
await writeLog(text, 20 * 1024);
await using grid = await RunningGrid.start(place);
const environment = {
  ...place.environment(),
  SHELL: "/bin/bash",
  LANG: "C.UTF-8",
};
const benchPlace: BenchPlace = { root: place.root, environment };
const all = [
  gridKind(grid, "ship"),
  gridKind(grid, "bridge"),
  bareKind,
  rawKind,
  ttydKind,
  moshKind,
];
const kinds: PeerKind[] = [];
for (const kind of all) {
  const why = await kind.missing();
  if (why === null) kinds.push(kind);
  else console.log(`without ${kind.name}: ${why}`);
}
if (network === null) {
  console.log(
    "without figures in bytes and on a slow network: unshare, ip and tc are needed for them",
  );
}

/** Name of a figure → what it says of one peer that is open. */
const figures: Record<
  string,
  { size: Size; measure: (peer: Peer) => Promise<Measured> } | null
> = {
  "idle echo": { size: usual, measure: (peer) => echo(peer, 150) },
  "echo, other pane flooded": {
    size: usual,
    measure: (peer) => floodedEcho(peer, { samples: 60, flood: noise }),
  },
  "echo, other pane yes": {
    size: usual,
    measure: (peer) => floodedEcho(peer, { samples: 60, flood: "yes" }),
  },
  "Ctrl-C in yes": {
    size: usual,
    measure: (peer) => interrupt(peer, { samples: 15, floodMs: 400, flood: "yes" }),
  },
  "Ctrl-C in yes, 64 KiB/s": network === null ? null : {
    size: usual,
    async measure(peer) {
      await using _slow = await network.throttled(slowBytesPerSecond);
      return await interrupt(peer, { samples: 6, floodMs: 1_500, flood: "yes" });
    },
  },
  "Ctrl-C in noise, 64 KiB/s": network && {
    size: usual,
    async measure(peer) {
      await using _slow = await network.throttled(slowBytesPerSecond);
      return await interrupt(peer, { samples: 3, floodMs: 2_500, flood: noise });
    },
  },
  "cat of 50 MiB": { size: usual, measure: (peer) => cat(peer, log, 3) },
  "bytes of five floods": network && {
    size: usual,
    measure: (peer) => floodBytes(peer, network, 5),
  },
  "full-screen program, 80×24": {
    size: usual,
    measure: (peer) => fullScreen(peer, network, 100),
  },
  "full-screen program, 200×50": {
    size: large,
    measure: (peer) => fullScreen(peer, network, 100),
  },
  "vim, bytes a key": network &&
    { size: usual, measure: (peer) => vimBytes(peer, network, text) },
};

const wanted = Deno.args[0] ?? "";
for (const kind of kinds.filter(({ ours }) => ours)) {
  await using peer = await kind.open(benchPlace, usual);
  await settled(peer);
  await warmUp(peer);
}
const results = new Map<string, Map<string, Measured>>();
for (const [name, figure] of Object.entries(figures)) {
  if (figure === null || !name.includes(wanted)) continue;
  const row = new Map<string, Measured>();
  results.set(name, row);
  console.log(`measuring ${name} …`);
  for (const kind of kinds) {
    try {
      await using peer = await kind.open(benchPlace, figure.size);
      await settled(peer);
      row.set(kind.name, await figure.measure(peer));
    } catch (thrown) {
      // Without one figure of a peer the others are still worth having.
      console.log(`no figure: ${name}, ${kind.name}: ${messageOf(thrown).slice(0, 200)}`);
    }
  }
}
console.log(report(results, kinds.map(({ name }) => name), goals));
console.log("times are p50/p99; bytes of grid via bridge are those of both legs");
if ("rates".includes(wanted)) {
  console.log(ratesTable(await rates((await Deno.readFile(log)).slice(0, 16 * 1024 * 1024))));
}
if ("crowd".includes(wanted)) console.log(crowdTable(await crowd(grid, crowdTerminals)));

/** Lines like a log's, some of them coloured. */
async function writeLog(path: string, bytes: number): Promise<void> {
  let lines = "";
  for (let n = 0; lines.length < 64 * 1024 && lines.length < bytes; n++) {
    const level = n % 7 === 0 ? "\x1b[33mWARN\x1b[0m" : "\x1b[32mINFO\x1b[0m";
    lines += `2026-01-01T00:00:${String(n % 60).padStart(2, "0")}Z ${level} word ${n} of ${
      "work ".repeat(n % 9)
    }\n`;
  }
  using file = await Deno.open(path, { write: true, create: true });
  const piece = new TextEncoder().encode(lines);
  for (let written = 0; written < bytes; written += piece.length) {
    await file.write(piece);
  }
}
