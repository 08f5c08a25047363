/**
 * The client's side of a terminal connection without its socket: frames in, a screen and the frames to
 * send back out. The CLI and the browser share it.
 */
import { FrameRefused, Picture } from "./apply.ts";
import type { Grid } from "./grid.ts";
import { type ClientFrame, decodeServerFrame, type ServerFrame } from "./protocol.ts";

/** What a frame did: changed the screen, ended the session, or nothing that can be shown. */
export type Received =
  | { readonly kind: "screen"; readonly grid: Grid; readonly send: readonly ClientFrame[] }
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "skipped"; readonly send: readonly ClientFrame[] };

/** Follows one connection from its first frame. */
export class ScreenFollower {
  #picture: Picture | null = null;
  #seq: number | null = null;
  #resyncing = false;

  /** The screen as of the newest frame; null before the first snapshot and while a gap is mended. */
  get grid(): Grid | null {
    return this.#picture?.grid ?? null;
  }

  /**
   * Takes the next text message. Every numbered frame is acknowledged, applied or not: credit says what
   * arrived. A gap, or a frame that does not fit, asks once for a snapshot and skips up to it.
   */
  receive(text: string): Received {
    const frame = decodeServerFrame(text);
    if (frame === null) return this.#mend([]);
    if (frame.type === "exit") return { kind: "exit", code: frame.code };
    const ack: ClientFrame = { type: "ack", seq: frame.seq };
    try {
      if (!this.#apply(frame)) return this.#mend([ack]);
    } catch (thrown) {
      if (thrown instanceof FrameRefused) return this.#mend([ack]);
      throw thrown;
    }
    this.#seq = frame.seq;
    this.#resyncing = false;
    return { kind: "screen", grid: this.#picture!.grid, send: [ack] };
  }

  /** False when the frame is not the one that follows. */
  #apply(frame: Exclude<ServerFrame, { type: "exit" }>): boolean {
    if (frame.type === "snapshot") {
      this.#picture = Picture.of(frame);
      return true;
    }
    if (this.#picture === null || this.#seq === null || frame.seq !== this.#seq + 1) return false;
    this.#picture.apply(frame);
    return true;
  }

  #mend(acks: readonly ClientFrame[]): Received {
    this.#picture = null;
    if (this.#resyncing) return { kind: "skipped", send: acks };
    this.#resyncing = true;
    return { kind: "skipped", send: [...acks, { type: "resync" }] };
  }
}
