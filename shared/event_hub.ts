/** A set of listeners for one kind of event, called in the order in which they subscribed. */
export class EventHub<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Calls `listener` for every later event until the returned handle is disposed. */
  subscribe(listener: (event: Event) => void): Disposable {
    const own = (event: Event) => listener(event);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  /** Tells every listener; a listener must not throw. */
  publish(event: Event): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  get size(): number {
    return this.#listeners.size;
  }
}
