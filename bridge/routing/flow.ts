/** One direction of a pipe between two sockets, with a bound on what waits in between. */
import type { Clock } from "../../shared/clock.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { limits } from "../../shared/limits.ts";

/** So long may the far side take nothing while more than the bound is pending. */
const stuckMs = 3_000;
/**
 * What was read before the near side could be stopped waits here: a chunk of its bytes, which deflate may
 * have made small.
 */
const readAheadBytesMax = limits.terminalPayloadBytesMax;

const encoder = new TextEncoder();

export interface FlowOptions {
  /** Where the messages come from: it is not read while too much is pending. */
  readonly from: Socket;
  readonly clock: Clock;
  /** More is pending than may be. */
  readonly onOverflow: () => void;
}

/**
 * Messages from one socket to another, in order. With more than 256 KiB pending the sender is not read, so
 * that a burst only waits; when the receiver then takes nothing for some seconds, or when messages pend
 * that cannot be sent at all yet, that is an overflow.
 */
export class Flow implements Disposable {
  #to: Socket | null = null;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** Runs while the sender is stopped. */
  #stuck: Disposable | null = null;
  #over = false;

  constructor(private readonly options: FlowOptions) {}

  /** What has waited goes to `to`, and from now on everything. */
  open(to: Socket): void {
    this.#to = to;
    to.onSent(() => this.#taken());
    this.#pump();
  }

  accept(text: string): void {
    if (this.#over) return;
    if (this.#to !== null && this.#stuck === null) return this.#pass(this.#to, text);
    this.#waiting.push(text);
    this.#waitingBytes += encoder.encode(text).length;
    const bytesMax = this.#to === null ? limits.socketPendingBytesMax : readAheadBytesMax;
    if (this.#waitingBytes > bytesMax) this.options.onOverflow();
  }

  /** The sender has closed: what it said before goes out, whatever is pending. */
  finish(): void {
    for (const text of this.#waiting.splice(0)) this.#to?.send(text);
    this[Symbol.dispose]();
  }

  /** Forgets what waits; nothing passes any more. */
  [Symbol.dispose](): void {
    this.#over = true;
    this.#waiting = [];
    this.#stuck?.[Symbol.dispose]();
  }

  /** One message may be larger than the bound: what counts is what it leaves behind. */
  #pass(to: Socket, text: string): void {
    to.send(text);
    if (to.bufferedBytes > limits.socketPendingBytesMax) this.#stop();
  }

  #stop(): void {
    if (this.#stuck === null) this.options.from.pause();
    this.#stuck?.[Symbol.dispose]();
    this.#stuck = this.options.clock.after(stuckMs, this.options.onOverflow);
  }

  /** The receiver has taken a message. */
  #taken(): void {
    if (this.#over || this.#stuck === null) return;
    this.#stop();
    this.#pump();
  }

  #pump(): void {
    const to = this.#to;
    while (to !== null && to.bufferedBytes <= limits.socketPendingBytesMax) {
      const text = this.#waiting.shift();
      if (text === undefined) return this.#go();
      this.#waitingBytes -= encoder.encode(text).length;
      to.send(text);
    }
    if (this.#stuck === null) this.#stop();
  }

  #go(): void {
    this.#stuck?.[Symbol.dispose]();
    this.#stuck = null;
    this.options.from.resume();
  }
}
