/**
 * How fast the ship's picture of a screen is, in this process: parsing, comparing, encoding, and the longest that
 * a frame of the worst screen there is holds the event loop.
 */
import { Buffer } from "node:buffer";
import zlib from "node:zlib";
import { FrameEncoder } from "../../../shared/terminal/diff.ts";
import { Grid } from "../../../shared/terminal/grid.ts";
import { limits } from "../../../shared/limits.ts";
import { Emulator } from "../../../ship/terminal/emulator.ts";
import { Screen } from "../../../ship/terminal/screen.ts";
import { timesOf } from "./workloads.ts";

export interface Rates {
  readonly parseMegabytesPerSecond: number;
  /** Reading the emulator and comparing with what the client shows, 200×50, a third of the rows changed. */
  readonly diffMs: number;
  /** Making text of that frame. */
  readonly encodeMs: number;
  readonly encodeMegabytesPerSecond: number;
  /** 1024×512, every cell its own colour: the longest turn of the loop, deflate and all. */
  readonly worstTurnMs: number;
  /** The same for the first such screen of a process, which nothing has compiled for yet. */
  readonly worstFirstTurnMs: number;
  /** Frames and time until that screen is whole at a client that acknowledges at once. */
  readonly worstFrames: number;
  readonly worstMs: number;
}

const encoder = new TextEncoder();
const rounds = 400;

export async function rates(log: Uint8Array<ArrayBuffer>): Promise<Rates> {
  const fast = { ...parseRate(log), ...diffRate() };
  const first = await worstScreen();
  return { ...fast, ...await worstScreen(), worstFirstTurnMs: first.worstTurnMs };
}

function parseRate(log: Uint8Array<ArrayBuffer>): Pick<Rates, "parseMegabytesPerSecond"> {
  using emulator = new Emulator(80, 24, () => {});
  const slice = 32 * 1024;
  const run = () => {
    const start = performance.now();
    for (let at = 0; at < log.length; at += slice) emulator.write(log.subarray(at, at + slice));
    return performance.now() - start;
  };
  run();
  return { parseMegabytesPerSecond: log.length / 1e6 / (run() / 1_000) };
}

function diffRate(): Pick<Rates, "diffMs" | "encodeMs" | "encodeMegabytesPerSecond"> {
  using emulator = new Emulator(200, 50, () => {});
  const grid = new Grid(200, 50);
  const frames = new FrameEncoder();
  emulator.read(grid);
  frames.snapshot(grid);
  const diffs: number[] = [];
  const encodes: number[] = [];
  let characters = 0;
  for (let round = 0; round < rounds; round++) {
    let bytes = "";
    for (let y = round % 3; y < 50; y += 3) {
      bytes += `\x1b[${y + 1};1H\x1b[3${round % 8}m${round * y} of\x1b[m ${
        "word ".repeat(round % 9)
      }${y * 7919 % 1000}\x1b[K`;
    }
    emulator.write(encoder.encode(bytes));
    const start = performance.now();
    emulator.read(grid);
    const patch = frames.patch(grid);
    const compared = performance.now();
    characters += JSON.stringify(patch?.frame).length;
    diffs.push(compared - start);
    encodes.push(performance.now() - compared);
  }
  // The first half warms the compiler up.
  const half = (times: number[]) => times.slice(rounds / 2);
  const encodedMs = encodes.reduce((sum, ms) => sum + ms, 0);
  return {
    diffMs: timesOf(half(diffs)).p50,
    encodeMs: timesOf(half(encodes)).p50,
    encodeMegabytesPerSecond: characters / 1e6 / (encodedMs / 1_000),
  };
}

/** Every cell in a colour that no other cell has. */
function richest(cols: number, rows: number): Uint8Array<ArrayBuffer> {
  const pieces: string[] = ["\x1b[H"];
  for (let n = 0; n < cols * rows; n++) {
    const colour = (n * 7919) & 0xffffff;
    pieces.push(`\x1b[38;2;${colour >> 16};${colour >> 8 & 255};${colour & 255}m`);
    pieces.push(String.fromCharCode(0x21 + n % 94));
  }
  return encoder.encode(pieces.join(""));
}

async function worstScreen(): Promise<Pick<Rates, "worstTurnMs" | "worstFrames" | "worstMs">> {
  const size = { cols: limits.terminalColsMax, rows: limits.terminalRowsMax };
  const bytes = richest(size.cols, size.rows);
  using screen = new Screen(size, () => {});
  const deflate = zlib.createDeflateRaw();
  deflate.resume();
  let frames = 0;
  const send = () => {
    const drawn = screen.draw("patch");
    if (drawn === null) return false;
    frames++;
    deflate.write(Buffer.from(drawn.text));
    return drawn.more;
  };
  using metronome = new Metronome();
  const start = performance.now();
  await screen.feed(bytes, () => void send());
  while (send()) await new Promise<void>((resolve) => deflate.flush(() => resolve()));
  const worstMs = performance.now() - start;
  deflate.close();
  return { worstTurnMs: metronome.longestMs, worstFrames: frames, worstMs };
}

/** Ticks whenever the event loop lets it; the longest time between two ticks is what something held it. */
class Metronome implements Disposable {
  longestMs = 0;
  #last = performance.now();
  #timer = setTimeout(() => this.#tick(), 0);

  #tick(): void {
    const now = performance.now();
    this.longestMs = Math.max(this.longestMs, now - this.#last);
    this.#last = now;
    this.#timer = setTimeout(() => this.#tick(), 0);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
