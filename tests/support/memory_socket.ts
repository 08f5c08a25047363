/** Two ends of a connection in memory, with the behaviour of real ones that matters to who holds them. */
import type { Socket } from "../../shared/http/socket.ts";

/** One end. Delivery is asynchronous, in order; texts sent before a close arrive before it. */
export class MemorySocket implements Socket {
  closed = false;
  /** Set by a test: what this end claims not to have got rid of. */
  bufferedBytes = 0;
  readonly received: string[] = [];
  /** Code and reason of the close, as this end was told. */
  closeSeen: { code: number; reason: string } | null = null;
  peer!: MemorySocket;
  #onText: ((text: string) => void) | null = null;
  #onBinary: (() => void) | null = null;
  readonly #onClose: Array<(code: number, reason: string) => void> = [];
  #early: string[] = [];
  #held: string[] = [];
  #closing = false;
  #onSent: (() => void) | null = null;
  /** Whether the owner of this end has asked not to be told anything. */
  paused = false;
  #waiters: Array<() => void> = [];

  send(text: string): void {
    if (this.#closing || this.closed) return;
    queueMicrotask(() => this.peer.#deliver(text));
  }
  pause(): void {
    this.paused = true;
  }
  /** What came meanwhile is delivered. */
  resume(): void {
    this.paused = false;
    for (const text of this.#held.splice(0)) this.#deliver(text);
  }
  onSent(handler: () => void): void {
    this.#onSent = handler;
  }
  /** What a peer that reads again does: `bufferedBytes` falls, and the owner of this end is told. */
  drain(): void {
    this.bufferedBytes = 0;
    this.#onSent?.();
  }
  /** What a peer that breaks the rules does. */
  sendBinary(): void {
    queueMicrotask(() => this.peer.#onBinary?.());
  }
  close(code: number, reason = ""): void {
    if (this.#closing || this.closed) return;
    this.#closing = true;
    queueMicrotask(() => {
      this.peer.#finish(code, reason);
      this.#finish(code, reason);
    });
  }
  terminate(): void {
    if (this.closed) return;
    this.#finish(1006, "");
    queueMicrotask(() => this.peer.#finish(1006, ""));
  }
  onText(handler: (text: string) => void): void {
    this.#onText = handler;
    for (const text of this.#early.splice(0)) handler(text);
  }
  onBinary(handler: () => void): void {
    this.#onBinary = handler;
  }
  onClose(handler: (code: number, reason: string) => void): void {
    if (this.closeSeen !== null) handler(this.closeSeen.code, this.closeSeen.reason);
    else this.#onClose.push(handler);
  }

  /** Waits until `holds`, looking again whenever something arrives. */
  async until(holds: () => boolean, withinMs = 10_000): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#wake();
    }, withinMs);
    try {
      while (!holds()) {
        if (late) {
          throw new Error(
            `waited ${withinMs} ms in vain; close: ${JSON.stringify(this.closeSeen)}`,
          );
        }
        await new Promise<void>((resolve) => this.#waiters.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #deliver(text: string): void {
    if (this.closed) return;
    if (this.paused) return void this.#held.push(text);
    this.received.push(text);
    if (this.#onText === null) this.#early.push(text);
    else this.#onText(text);
    this.#wake();
  }
  #finish(code: number, reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.closeSeen = { code, reason };
    for (const handler of this.#onClose.splice(0)) handler(code, reason);
    this.#wake();
  }
  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

/** Both ends of one connection. */
export function socketPair(): [MemorySocket, MemorySocket] {
  const a = new MemorySocket();
  const b = new MemorySocket();
  a.peer = b;
  b.peer = a;
  return [a, b];
}
