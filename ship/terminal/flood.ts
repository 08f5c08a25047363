/**
 * When to ask tmux for a redraw: it shows a client that cannot keep up only every 100 ms, and sometimes
 * it has drawn what no terminal shows.
 */
import type { Clock } from "../../shared/clock.ts";

/** So many reads within so long are a flood. */
const floodReads = 40;
const floodWindowMs = 40;
/** The echo of a keystroke has reached the pane by then. */
const afterInputMs = 1;
const redrawIntervalMs = 33;

export interface FloodOptions {
  readonly clock: Clock;
  readonly redraw: () => void;
  /** Without credit a redraw would only make tmux work. */
  readonly hasCredit: () => boolean;
}

/** Watches reads and keystrokes of one terminal. */
export class FloodWatch implements Disposable {
  readonly #readsMs: number[] = [];
  #lastRedrawMs = -Infinity;
  #timer: Disposable | null = null;

  constructor(private readonly options: FloodOptions) {}

  get flooding(): boolean {
    const oldest = this.#readsMs[0];
    return this.#readsMs.length === floodReads && oldest !== undefined &&
      this.options.clock.monotonicMs() - oldest <= floodWindowMs;
  }

  /** Bytes came. */
  read(): void {
    this.#readsMs.push(this.options.clock.monotonicMs());
    if (this.#readsMs.length > floodReads) this.#readsMs.shift();
    if (this.flooding && this.options.hasCredit()) this.#within(redrawIntervalMs);
  }

  /** The user typed. */
  typed(): void {
    if (!this.flooding) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    this.#redrawIn(afterInputMs);
  }

  /** The screen is not tmux's. */
  strayed(): void {
    this.#within(redrawIntervalMs);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #within(intervalMs: number): void {
    if (this.#timer !== null) return;
    const nowMs = this.options.clock.monotonicMs();
    this.#redrawIn(Math.max(0, this.#lastRedrawMs + intervalMs - nowMs));
  }

  #redrawIn(delayMs: number): void {
    this.#timer = this.options.clock.after(delayMs, () => {
      this.#timer = null;
      this.#lastRedrawMs = this.options.clock.monotonicMs();
      this.options.redraw();
    });
  }
}
