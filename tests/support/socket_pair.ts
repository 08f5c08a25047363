/** A `Socket` whose other end is the test: a supported double that can be slow on purpose. */
import type { Socket } from "../../shared/http/socket.ts";

/** The far end of a pair. */
export interface FarEnd {
  /** Frames that arrived, oldest first. */
  readonly received: string[];
  /** How the near end closed, or null. */
  readonly closed: { readonly code: number; readonly reason: string } | null;
  /** Until resumed, what the near end sends stays unsent there. */
  pause(): void;
  /** Takes what is waiting, and everything from now on at once. */
  resume(): void;
  sendText(text: string): void;
  sendBinary(): void;
  close(code: number, reason?: string): void;
}

/** Makes two ends of one connection without a network. */
export function socketPair(): { readonly near: Socket; readonly far: FarEnd } {
  const pair = new Pair();
  return { near: pair.near, far: pair.far };
}

class Pair {
  readonly #received: string[] = [];
  #waiting: string[] = [];
  #paused = false;
  #closed: { readonly code: number; readonly reason: string } | null = null;
  #onText: (text: string) => void = () => {};
  #onBinary: () => void = () => {};
  readonly #onClose: Array<(code: number, reason: string) => void> = [];
  readonly near: Socket;
  readonly far: FarEnd;

  constructor() {
    const closed = () => this.#closed;
    const waitingBytes = () =>
      this.#waiting.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
    this.near = {
      get closed() {
        return closed() !== null;
      },
      get bufferedBytes() {
        return waitingBytes();
      },
      send: (text) => this.#send(text),
      close: (code, reason = "") => this.#end(code, reason),
      terminate: () => this.#end(1006, ""),
      // Nobody who holds a near end stops reading, or waits for it to be taken.
      pause: () => {},
      resume: () => {},
      onSent: () => {},
      onText: (handler) => void (this.#onText = handler),
      onBinary: (handler) => void (this.#onBinary = handler),
      onClose: (handler) => this.#whenClosed(handler),
    };
    this.far = {
      received: this.#received,
      get closed() {
        return closed();
      },
      pause: () => void (this.#paused = true),
      resume: () => {
        this.#paused = false;
        this.#received.push(...this.#waiting.splice(0));
      },
      sendText: (text) => this.#onText(text),
      sendBinary: () => this.#onBinary(),
      close: (code, reason = "") => this.#end(code, reason),
    };
  }

  #send(text: string): void {
    if (this.#closed !== null) return;
    if (this.#paused) this.#waiting.push(text);
    else this.#received.push(text);
  }

  #whenClosed(handler: (code: number, reason: string) => void): void {
    if (this.#closed === null) this.#onClose.push(handler);
    else handler(this.#closed.code, this.#closed.reason);
  }

  #end(code: number, reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = { code, reason };
    if (code === 1006) this.#waiting = [];
    for (const handler of this.#onClose) handler(code, reason);
  }
}
