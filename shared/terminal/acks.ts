/** When a client acknowledges frames: late enough to save packets, early enough never to be waited for. */
import type { Clock } from "../clock.ts";
import type { ClientFrame } from "./protocol.ts";

/**
 * The ship goes on with one frame unacknowledged, so the ack of one waits for the next frame, for so long. That is
 * below the 40 ms after which TCP acknowledges by itself (Linux, TCP_DELACK_MIN): its packet is then ours.
 */
const delayMs = 32;
/** Large frames count against what the ship lets be under way; their acks do not wait. */
const charactersMax = 8 * 1024;

export interface AcksOptions {
  readonly clock: Clock;
  readonly send: (frame: ClientFrame) => void;
}

/** Sends what a `ScreenFollower` wants sent: acks when they are due, everything else at once. */
export class Acks implements Disposable {
  #waiting: ClientFrame | null = null;
  #timer: Disposable | null = null;

  constructor(private readonly options: AcksOptions) {}

  /** `frames` answer a frame of so many characters. */
  answer(frames: readonly ClientFrame[], characters: number): void {
    for (const frame of frames) {
      if (frame.type !== "ack") this.options.send(frame);
      else if (this.#waiting !== null || characters > charactersMax) this.#sendNow(frame);
      else this.#wait(frame);
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    this.#waiting = null;
  }

  #wait(ack: ClientFrame): void {
    this.#waiting = ack;
    this.#timer = this.options.clock.after(delayMs, () => this.#sendNow(ack));
  }

  /** An ack stands for every frame before it. */
  #sendNow(ack: ClientFrame): void {
    this[Symbol.dispose]();
    this.options.send(ack);
  }
}
