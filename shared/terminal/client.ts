/**
 * The client's side of a terminal connection without its socket: frames in, a screen and the frames to
 * send back out. The CLI and the browser share it.
 */
import { FrameRefused, Picture } from "./apply.ts";
import type { Grid } from "./grid.ts";
import { noNotices, type Notices, noticesOf } from "./notices.ts";
import { type ClientFrame, decodeServerFrame, type ServerFrame } from "./protocol.ts";

/** What came of any frame but the last. */
interface Answered {
  readonly send: readonly ClientFrame[];
  /** What the session did beside the screen: said once, so to be done now. */
  readonly notices: Notices;
}

/** What a frame did: changed the screen, ended the session, or nothing that can be shown. */
export type Received =
  | { readonly kind: "screen"; readonly grid: Grid } & Answered
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "skipped" } & Answered;

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
   * arrived. A gap, or a frame that does not fit, asks once for a snapshot and skips up to it; a
   * skipped frame's notices still count, because no later frame repeats them.
   */
  receive(text: string): Received {
    const frame = decodeServerFrame(text);
    if (frame === null) return this.#mend({ send: [], notices: noNotices });
    if (frame.type === "exit") return { kind: "exit", code: frame.code };
    const answered = {
      send: [{ type: "ack", seq: frame.seq } as const],
      notices: noticesOf(frame),
    };
    try {
      if (!this.#apply(frame)) return this.#mend(answered);
    } catch (thrown) {
      if (thrown instanceof FrameRefused) return this.#mend(answered);
      throw thrown;
    }
    this.#seq = frame.seq;
    this.#resyncing = false;
    return { kind: "screen", grid: this.#picture!.grid, ...answered };
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

  #mend({ send, notices }: Answered): Received {
    this.#picture = null;
    if (this.#resyncing) return { kind: "skipped", send, notices };
    this.#resyncing = true;
    return { kind: "skipped", send: [...send, { type: "resync" }], notices };
  }
}
