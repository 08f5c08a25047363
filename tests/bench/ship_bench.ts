/** Figures of a ship as a process of its own, asked over HTTP like the bridge asks it. */
import { join } from "node:path";
import { askBridge as ask, Place, startLone } from "../support/grid_process.ts";
import { git } from "../support/grid_support.ts";
import { type Figure, median, timed } from "./figures.ts";

const workspaces = 1_000;
const rounds = 10;

/** Lists `workspaces` clones: right after the ship's start, and again and again. */
export async function listBench(): Promise<Figure[]> {
  await using place = await Place.make();
  const remote = await place.makeRemote();
  await plantWorkspaces(place, remote);
  await using ship = await startLone("ship", place);
  const list = async () => {
    const listed = await ask(ship.url, "GET", "/workspaces") as unknown[];
    if (listed.length !== workspaces) throw new Error(`${listed.length} workspaces were listed`);
  };
  const cold = await timed(list);
  const warm: number[] = [];
  for (let round = 0; round < rounds; round += 1) warm.push(await timed(list));
  const one = "/workspaces/repo0/w0";
  const inactive: number[] = [];
  const active: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    inactive.push(await timed(() => ask(ship.url, "GET", one)));
  }
  await ask(ship.url, "POST", `${one}/activate`);
  for (let round = 0; round < rounds; round += 1) {
    active.push(await timed(() => ask(ship.url, "GET", one)));
  }
  return [
    { name: "list of 1,000 workspaces, first after the start", value: cold, unit: "ms" },
    { name: "list of 1,000 workspaces, warm", value: median(warm), unit: "ms" },
    { name: "status of one, inactive", value: median(inactive), unit: "ms" },
    { name: "status of one, active (git diff and tmux)", value: median(active), unit: "ms" },
  ];
}

/** Clones made by git, ten repos of a hundred workspaces: the first is cloned, the others are its copies. */
async function plantWorkspaces(place: Place, remote: string): Promise<void> {
  const first = place.at("grid", "repo0", "w0");
  await Deno.mkdir(place.at("grid", "repo0"));
  await git(place.root, "clone", "-q", "--template=", `file://${remote}`, first);
  for (let index = 1; index < workspaces; index += 1) {
    await copyTree(first, place.at("grid", `repo${index % 10}`, `w${index}`));
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyTree(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

/** Creates a small repository's workspace through the ship, and clones it with git alone, alternating. */
export async function createBench(): Promise<Figure[]> {
  await using place = await Place.make();
  const url = `file://${await place.makeRemote()}`;
  await using ship = await startLone("ship", place);
  const throughShip: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const body = { url, repoName: "repo", name: `w${round}`, branch: "main" };
    throughShip.push(await timed(() => ask(ship.url, "POST", "/workspaces", body)));
    bare.push(
      await timed(() =>
        git(place.root, "clone", "-q", "-b", "main", url, place.at("tmp", `c${round}`))
      ),
    );
  }
  const [made, cloned] = [median(throughShip), median(bare)];
  return [
    { name: "create of a small workspace / bare git clone", value: made / cloned, unit: "ratio" },
    { name: "create of a small workspace", value: made, unit: "ms" },
    { name: "bare git clone of the same", value: cloned, unit: "ms" },
  ];
}

/** Resident memory of each daemon, a second after its start. */
export async function memoryBench(): Promise<Figure[]> {
  await using place = await Place.make();
  await using ship = await startLone("ship", place);
  await using bridge = await startLone("bridge", place);
  await ask(bridge.url, "POST", "/ships", { url: ship.url });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const figure = async (name: string, pid: number): Promise<Figure> => {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
    return { name, value: kilobytes / 1024, unit: "MiB" };
  };
  return [
    await figure("memory of a ship at rest", ship.daemon.pid),
    await figure("memory of a bridge at rest, one ship", bridge.daemon.pid),
  ];
}
