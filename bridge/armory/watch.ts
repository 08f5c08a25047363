/** Notices that the armory's directory changed. It may come, go and be replaced as a whole. */
import { basename, dirname } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";

export interface WatchOptions {
  /** Absolute; the directory above it exists. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The directory has been quiet for `debounceMs` after a change. Must not throw. */
  readonly onChange: () => void;
}

/** Editors save in several steps; this much quiet ends them. */
export const debounceMs = 150;
/** A directory that never falls quiet is looked at this often. */
export const debounceMaxMs = 2_000;
/** Where the system refuses to watch (inotify's bounds), the directory is looked at this often. */
const pollMs = 10_000;

/** Watches from `start` until disposed. */
export class ArmoryWatch implements AsyncDisposable {
  #above: Deno.FsWatcher | null = null;
  #inside: Deno.FsWatcher | null = null;
  #timer: Disposable | null = null;
  #poll: Disposable | null = null;
  #firstMs: number | null = null;
  #stopped = false;
  readonly #readers = new Set<Promise<void>>();

  constructor(private readonly options: WatchOptions) {}

  start(): void {
    const name = basename(this.options.directory);
    this.#above = this.#watch(dirname(this.options.directory), false, (paths) => {
      // The rest of the data directory is written all the time.
      if (!paths.some((path) => basename(path) === name)) return;
      this.#rewatch();
      this.#changed();
    });
    this.#rewatch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#timer?.[Symbol.dispose]();
    this.#poll?.[Symbol.dispose]();
    this.#close(this.#above);
    this.#close(this.#inside);
    await Promise.all(this.#readers);
  }

  /** The directory that stands there now, not the one that stood there before. */
  #rewatch(): void {
    this.#close(this.#inside);
    this.#inside = this.#watch(this.options.directory, true, () => this.#changed());
  }

  #watch(
    path: string,
    recursive: boolean,
    onEvent: (paths: readonly string[]) => void,
  ): Deno.FsWatcher | null {
    let watcher: Deno.FsWatcher;
    try {
      watcher = Deno.watchFs(path, { recursive });
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.NotFound)) this.#pollInstead(thrown);
      return null;
    }
    const reader = this.#read(watcher, onEvent).catch((thrown) => this.#pollInstead(thrown));
    this.#readers.add(reader);
    void reader.finally(() => this.#readers.delete(reader));
    return watcher;
  }

  async #read(
    watcher: Deno.FsWatcher,
    onEvent: (paths: readonly string[]) => void,
  ): Promise<void> {
    for await (const { kind, paths } of watcher) {
      // Reading the armory is what we do ourselves.
      if (kind !== "access" && !this.#stopped) onEvent(paths);
    }
  }

  #close(watcher: Deno.FsWatcher | null): void {
    try {
      watcher?.close();
    } catch {
      // It has ended by itself: its directory is gone.
    }
  }

  #changed(): void {
    const { clock, onChange } = this.options;
    const nowMs = clock.monotonicMs();
    this.#firstMs ??= nowMs;
    this.#timer?.[Symbol.dispose]();
    const delayMs = Math.min(debounceMs, Math.max(0, this.#firstMs + debounceMaxMs - nowMs));
    this.#timer = clock.after(delayMs, () => {
      this.#timer = null;
      this.#firstMs = null;
      if (!this.#stopped) onChange();
    });
  }

  #pollInstead(thrown: unknown): void {
    if (this.#poll !== null || this.#stopped) return;
    const { clock, log, directory } = this.options;
    log.warn("the armory cannot be watched; it is looked at now and then instead", {
      directory,
      everyMs: pollMs,
      why: messageOf(thrown),
    });
    const look = () => {
      this.#poll = clock.after(pollMs, look);
      this.#changed();
    };
    this.#poll = clock.after(pollMs, look);
  }
}
