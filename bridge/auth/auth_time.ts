/** The time by which sessions expire. */
import type { Clock } from "../../shared/clock.ts";

/**
 * The wall clock as it stood when the bridge started, carried on by the monotonic clock: a wall clock
 * that jumps while the bridge runs neither ends every session nor makes one outlive its 30 days. What
 * is stored is wall time, so that it means the same to the next process.
 */
export class AuthTime {
  readonly #startWallMs: number;
  readonly #startMonotonicMs: number;

  constructor(private readonly clock: Clock) {
    this.#startWallMs = clock.now().getTime();
    this.#startMonotonicMs = clock.monotonicMs();
  }

  /** Milliseconds since the epoch. */
  nowMs(): number {
    return this.#startWallMs + (this.clock.monotonicMs() - this.#startMonotonicMs);
  }
}
