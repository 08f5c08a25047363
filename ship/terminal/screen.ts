/** The ship's picture of one terminal: bytes from the session in, frames for one client out. */
import { FrameEncoder } from "../../shared/terminal/diff.ts";
import { Grid, Inks } from "../../shared/terminal/grid.ts";
import type { Patch, Snapshot } from "../../shared/terminal/protocol.ts";
import { Emulator } from "./emulator.ts";

/** Bytes parsed before the event loop has its turn: about a millisecond. */
const sliceBytes = 32 * 1024;
/** Changed cells read for one frame; what is left comes with the next. */
const cellsPerFrameMax = 64 * 1024;
/** Styles, clusters and links remembered, beyond two a cell, before the memory is begun anew. */
const inksSpare = 64 * 1024;

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** A frame ready for the wire. */
export interface Drawn {
  readonly seq: number;
  readonly text: string;
  /** The screen holds more changes than the frame. */
  readonly more: boolean;
}

export class Screen implements Disposable {
  readonly #emulator: Emulator;
  readonly #encoder = new FrameEncoder();
  #grid: Grid;

  constructor(size: Size, onReply: (text: string) => void) {
    this.#emulator = new Emulator(size.cols, size.rows, onReply);
    this.#grid = new Grid(size.cols, size.rows);
  }

  /** Parses `bytes` in slices; `onSlice` is called after each. Calls must not overlap. */
  async feed(bytes: Uint8Array, onSlice: () => void): Promise<void> {
    for (let from = 0; from < bytes.length; from += sliceBytes) {
      if (from > 0) await new Promise<void>((resolve) => setTimeout(resolve, 0));
      this.#emulator.write(bytes.subarray(from, from + sliceBytes));
      onSlice();
    }
  }

  /** True in the middle of an update that should be seen whole. */
  get updating(): boolean {
    return this.#emulator.updating;
  }

  /** True once after bytes that leave a screen other than tmux's own: only a redraw mends it. */
  takeStrayed(): boolean {
    return this.#emulator.takeStrayed();
  }

  resize(size: Size): void {
    this.#emulator.resize(size.cols, size.rows);
    this.#grid = new Grid(size.cols, size.rows, this.#grid.inks);
  }

  /** The screen's changes since the last frame, null when there are none; a snapshot where one is due. */
  draw(kind: "snapshot" | "patch"): Drawn | null {
    const { cols, rows, inks } = this.#grid;
    if (inks.size > inksSpare + 2 * cols * rows) this.#grid = new Grid(cols, rows, new Inks());
    const { more } = this.#emulator.read(this.#grid, cellsPerFrameMax);
    const encoded: { frame: Snapshot | Patch; more: boolean } | null =
      kind === "snapshot" || this.#encoder.needsSnapshot(this.#grid)
        ? this.#encoder.snapshot(this.#grid)
        : this.#encoder.patch(this.#grid);
    if (encoded === null) return null;
    return {
      seq: encoded.frame.seq,
      text: JSON.stringify(encoded.frame),
      more: more || encoded.more,
    };
  }

  [Symbol.dispose](): void {
    this.#emulator[Symbol.dispose]();
  }
}
