/** Time as features take it: a wall clock for people, a monotonic one for durations, timers to wait. */
export interface Clock {
  /** The wall clock, for timestamps only: it may jump. */
  now(): Date;
  /** Milliseconds from an arbitrary start that never go back: for durations. */
  monotonicMs(): number;
  /** Runs `action` once after `delayMs`; disposing cancels it. */
  after(delayMs: number, action: () => void): Disposable;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** A clock that moves only when told: a supported double for tests of timers and expiry. */
export class ManualClock implements Clock {
  #monotonicMs = 0;
  #wallMs: number;
  readonly #timers = new Set<{ readonly dueMs: number; readonly action: () => void }>();

  constructor(start: Date = new Date("2026-01-01T00:00:00Z")) {
    this.#wallMs = start.getTime();
  }
  now(): Date {
    return new Date(this.#wallMs);
  }
  monotonicMs(): number {
    return this.#monotonicMs;
  }
  after(delayMs: number, action: () => void): Disposable {
    const timer = { dueMs: this.#monotonicMs + delayMs, action };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }
  /** Moves both clocks on and runs what falls due, in order. */
  advance(byMs: number): void {
    const endMs = this.#monotonicMs + byMs;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.dueMs <= endMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#wallMs += Math.max(0, due.dueMs - this.#monotonicMs);
      this.#monotonicMs = Math.max(this.#monotonicMs, due.dueMs);
      due.action();
    }
    this.#wallMs += endMs - this.#monotonicMs;
    this.#monotonicMs = endMs;
  }
  /** The wall clock jumps; durations do not notice. */
  jump(byMs: number): void {
    this.#wallMs += byMs;
  }
}
