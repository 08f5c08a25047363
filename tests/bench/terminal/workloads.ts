/** What every peer is put through. Times are in milliseconds, as a user at the client sees them. */
import { fileURLToPath } from "node:url";
import { cpuMs } from "./processes.ts";
import type { Network } from "./network.ts";
import { type Peer, promptText } from "./peer.ts";

/** The middle and the bad end of many times. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function timesOf(samples: readonly number[]): Times {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ??
      NaN;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits for the session's first prompt. */
export async function settled(peer: Peer): Promise<void> {
  await peer.shows(promptText(1));
  await peer.quiet(150);
}

/** Does once what is measured later: a daemon that runs for weeks has been compiled for it long ago. */
export async function warmUp(peer: Peer): Promise<void> {
  await peer.tmux("split-window", "-d", "timeout 5 yes");
  await echo(peer, 60);
  peer.type(`${fullScreenCommand(300, 10)}\r`);
  await peer.quiet(1_000);
}

/** No sequence of a terminal holds such letters, and each is typed once on a line. */
const keys = "абвгдежзийклмнопрстуфхцчшщъыьэюя";

/** From a keystroke to its being shown. */
export async function echo(peer: Peer, samples: number): Promise<Times> {
  const times: number[] = [];
  while (times.length < samples) {
    peer.forget();
    for (const key of keys) {
      await sleep(20 + Math.random() * 30);
      const start = performance.now();
      peer.type(key);
      times.push(await peer.shows(key) - start);
      if (times.length === samples) break;
    }
    peer.type("\x15");
    await sleep(200);
  }
  return timesOf(times);
}

/** The same while `flood` runs in the window's other pane, below as tmux splits by itself. */
export async function floodedEcho(
  peer: Peer,
  { samples, flood }: { samples: number; flood: string },
): Promise<Times> {
  await peer.tmux("split-window", "-d", flood);
  await sleep(500);
  return await echo(peer, samples);
}

/** Who has not shown the prompt by then is as good as hung. */
const interruptBoundMs = 60_000;

/** From Ctrl-C in the command `flood` to the prompt. The flood lasts `floodMs` each time. */
export async function interrupt(
  peer: Peer,
  { samples, floodMs, flood }: { samples: number; floodMs: number; flood: string },
): Promise<Times> {
  const times: number[] = [];
  for (let round = 0; round < samples; round++) {
    peer.type(`${flood}\r`);
    await sleep(floodMs);
    peer.forget();
    const start = performance.now();
    peer.type("\x03");
    const shown = await peer.shows(promptText(round + 2), interruptBoundMs).catch(() => Infinity);
    times.push(shown - start);
    if (shown === Infinity) break;
    await peer.quiet(100);
  }
  return timesOf(times);
}

/** From Enter to the prompt after so much text; the middle of several times. */
export async function cat(peer: Peer, file: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    peer.forget();
    const start = performance.now();
    peer.type(`cat ${file}\r`);
    times.push(await peer.shows(promptText(round + 2), 60_000) - start);
    await peer.quiet(100);
  }
  return timesOf(times).p50;
}

/** Bytes on the network for `rounds` floods of a few megabytes each. */
export async function floodBytes(
  peer: Peer,
  network: Network,
  rounds: number,
): Promise<number> {
  const before = await network.bytes();
  for (let round = 0; round < rounds; round++) {
    peer.forget();
    peer.type("seq 1 400000\r");
    await peer.shows(promptText(round + 2), 60_000);
    await peer.quiet(100);
  }
  return await network.bytes() - before;
}

function fullScreenCommand(pictures: number, intervalMs: number): string {
  const program = fileURLToPath(new URL("full_screen.ts", import.meta.url));
  return `'${Deno.execPath()}' run --no-lock '${program}' ${pictures} ${intervalMs}`;
}

/**
 * A program that redraws its whole screen: bytes a picture, and the servers' processor time for all. It runs once
 * before, so that neither its own start nor a compiler warming up is counted.
 */
export async function fullScreen(
  peer: Peer,
  network: Network | null,
  frames: number,
): Promise<{ bytesPerFrame: number; serverMs: number }> {
  const pids = [
    ...await peer.serverPids(),
    Number(await peer.tmux("display", "-p", "#{pid}")),
  ];
  peer.type(`stty -echo; ${fullScreenCommand(frames, 50)}\r`);
  await peer.shows(promptText(2), 60_000);
  await peer.quiet(150);
  const [bytes, used] = [await network?.bytes() ?? NaN, await cpuMs(pids)];
  peer.forget();
  peer.type(`${fullScreenCommand(frames, 50)}\r`);
  await peer.shows(promptText(3), 60_000);
  return {
    bytesPerFrame: ((await network?.bytes() ?? NaN) - bytes) / frames,
    serverMs: await cpuMs(pids) - used,
  };
}

const vimKeys = [
  ..."ihello wonderful world of editors\r",
  ..."second line, longer than the first one was\x1b",
  ..."jjjjjjkkkkkllllllhhh",
  ..."\x06\x06\x15ddppGgg",
  ...["/word 7\r", "n", "n", "N", "zz", "o"],
  ..."typing in the middle of a screen\x1b",
];

/** Bytes on the network for each key of a session with vim. */
export async function vimBytes(
  peer: Peer,
  network: Network,
  file: string,
): Promise<number> {
  peer.forget();
  peer.type(`vim -u NONE -N -n ${file}\r`);
  await peer.quiet(500);
  const before = await network.bytes();
  for (const key of vimKeys) {
    peer.type(key);
    await sleep(70);
  }
  await peer.quiet(150);
  const used = await network.bytes() - before;
  peer.type("\x1b");
  await peer.quiet(100);
  peer.type(":q!\r");
  await peer.shows(promptText(2));
  return used / vimKeys.length;
}
