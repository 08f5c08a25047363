/** Many terminals at once on one ship: what one costs, and what the others feel of them. */
import { join } from "node:path";
import { askBridge } from "../../support/grid_process.ts";
import { git } from "../../support/grid_support.ts";
import { GridPeer, type RunningGrid, terminalSocket } from "./grid_peer.ts";
import { cpuMs, sizeOf } from "./processes.ts";
import { promptText } from "./peer.ts";
import { type Times, timesOf } from "./workloads.ts";

export interface Crowd {
  readonly terminals: number;
  /** Of the ship, for each terminal; its programs (script, tmux's client) are not in it. */
  readonly memoryBytesEach: number;
  readonly threadsMore: number;
  /** Processor time of the ship in a second in which nobody does anything, all terminals open. */
  readonly idleMsPerSecond: number;
  /** Everybody types one key at the same moment. */
  readonly echo: Times;
  readonly openMs: number;
}

const idleMs = 5_000;
const size = { cols: 80, rows: 24 };

export async function crowd(grid: RunningGrid, terminals: number): Promise<Crowd> {
  const paths = await workspaces(grid, terminals);
  const pid = grid.ship.daemon.pid;
  const before = await sizeOf(pid);
  const start = performance.now();
  await using stack = new AsyncDisposableStack();
  const peers = await Promise.all(paths.map(async (path) => {
    const socket = await terminalSocket(grid.ship.url, path);
    const peer = new GridPeer(grid, socket, { size, path });
    stack.use(peer);
    await peer.shows(promptText(1), 60_000);
    return peer;
  }));
  const openMs = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const cpu = await cpuMs([pid]);
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const idleMsPerSecond = (await cpuMs([pid]) - cpu) / (idleMs / 1_000);
  const echoes: number[] = [];
  for (const key of "жшю") {
    const pressed = performance.now();
    for (const peer of peers) peer.type(key);
    echoes.push(...await Promise.all(peers.map(async (peer) => await peer.shows(key) - pressed)));
  }
  const after = await sizeOf(pid);
  return {
    terminals,
    memoryBytesEach: (after.memoryBytes - before.memoryBytes) / terminals,
    threadsMore: after.threads - before.threads,
    idleMsPerSecond,
    echo: timesOf(echoes),
    openMs,
  };
}

/** So many active workspaces; one is cloned through the ship by `RunningGrid`, the others by git alone. */
async function workspaces({ place, ship }: RunningGrid, count: number): Promise<string[]> {
  const paths: string[] = [];
  const source = `file://${place.at("grid", "repo", "work")}`;
  for (let n = 0; n < count; n++) {
    await git(place.root, "clone", "-q", source, join(place.at("grid", "repo"), `crowd${n}`));
    paths.push(`/workspaces/repo/crowd${n}`);
    await askBridge(ship.url, "POST", `/workspaces/repo/crowd${n}/activate`);
  }
  return paths;
}
