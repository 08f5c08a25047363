/** The ship's picture of one terminal: bytes from the session in, frames for one client out. */
import { type Encoded, FrameEncoder } from "../../shared/terminal/diff.ts";
import { Grid } from "../../shared/terminal/grid.ts";
import { Inks } from "../../shared/terminal/inks.ts";
import type { Patch, Snapshot } from "../../shared/terminal/protocol.ts";
import { Emulator } from "./emulator.ts";
import { NoticeWatch } from "./notices.ts";

/** Bytes parsed before the event loop has its turn: about a millisecond. */
const sliceBytes = 64 * 1024;
/** Changed cells read for one frame; what is left comes with the next. */
const cellsPerFrameMax = 16 * 1024;
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
  readonly #notices: NoticeWatch;
  #grid: Grid;

  constructor(size: Size, onReply: (text: string) => void) {
    this.#emulator = new Emulator(size.cols, size.rows, onReply);
    this.#notices = new NoticeWatch(this.#emulator.terminal);
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

  /**
   * The screen's changes since the last frame, and what else the session did; null when there is
   * neither; a snapshot where one is due.
   */
  draw(kind: "snapshot" | "patch"): Drawn | null {
    const { cols, rows, inks } = this.#grid;
    if (inks.size > inksSpare + 2 * cols * rows) this.#grid = new Grid(cols, rows, new Inks());
    const { more } = this.#emulator.read(this.#grid, cellsPerFrameMax);
    const notices = this.#notices.take();
    const encoded: Encoded<Snapshot | Patch> | null =
      kind === "snapshot" || this.#encoder.needsSnapshot(this.#grid)
        ? this.#encoder.snapshot(this.#grid, notices)
        : this.#encoder.patch(this.#grid, notices);
    return encoded === null ? null : drawn(encoded, more);
  }

  /**
   * What the session did beside the screen since the last frame, when it has ended: the screen that a
   * tmux client leaves behind is nobody's business. Null when there is nothing.
   */
  lastWords(): Drawn | null {
    const encoded = this.#encoder.lastWords(this.#notices.take());
    return encoded === null ? null : drawn(encoded, false);
  }

  [Symbol.dispose](): void {
    this.#emulator[Symbol.dispose]();
  }
}

function drawn({ frame, more }: Encoded<Snapshot | Patch>, unread: boolean): Drawn {
  return { seq: frame.seq, text: JSON.stringify(frame), more: unread || more };
}
