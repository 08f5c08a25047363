/** A counting semaphore whose queue is bounded: acquiring returns what releases. */
export class Semaphore {
  #free: number;
  readonly #waiting: Array<() => void> = [];

  constructor(permits: number, private readonly queueMax: number) {
    this.#free = permits;
  }

  /**
   * Waits for a permit. Returns null when `queueMax` others wait already; rejects with the signal's
   * reason when `signal` aborts first.
   */
  async acquire(signal?: AbortSignal): Promise<Disposable | null> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else if (this.#waiting.length >= this.queueMax) return null;
    else await this.#turn(signal);
    let released = false;
    return {
      [Symbol.dispose]: () => {
        if (released) return;
        released = true;
        const next = this.#waiting.shift();
        if (next === undefined) this.#free += 1;
        else next();
      },
    };
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal?.reason);
      };
      this.#waiting.push(go);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }
}
