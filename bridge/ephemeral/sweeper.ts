/** Cleaning up: workspaces made from an issue go when their pull request is done and nothing would be lost. */
import type { Clock } from "../../shared/clock.ts";
import { Failure, failures, messageOf } from "../../shared/errors.ts";
import type { RepoName, ShipName, WorkspaceId } from "../../shared/ids.ts";
import { workspaceKey } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { EphemeralWorkspace, SweepResult } from "../../shared/schema/ephemeral.ts";
import type { Repo } from "../../shared/schema/repo.ts";
import type { PullState } from "../provider/provider.ts";
import type { Providers } from "../provider/providers.ts";
import { blockedBy, firstStep, type Presence, sameRecord, stepOf } from "./plan.ts";
import type { EphemeralStore } from "./records.ts";

/** What cleaning up asks of the fleet. */
export interface SweptFleet {
  /** Whether `ship` has the workspace now; never throws. */
  presence(ship: ShipName, id: WorkspaceId, signal: AbortSignal): Promise<Presence>;
  /** Deletes the workspace of `ship` if nothing in it would be lost. Throws what the ship answers. */
  removeKeepingWork(ship: ShipName, id: WorkspaceId): Promise<void>;
  /** What is shown of workspaces has changed. */
  changed(): void;
}

export interface SweeperOptions {
  readonly records: EphemeralStore;
  readonly providers: Providers;
  readonly repo: (name: RepoName) => Repo | null;
  readonly fleet: SweptFleet;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

type Outcome = "kept" | Exclude<keyof SweepResult, "checked">;

/** Records worked on at once. */
const concurrencyMax = 4;

export class Sweeper implements AsyncDisposable {
  readonly #stopped = new AbortController();
  #running: Promise<SweepResult> | null = null;
  #timer: Disposable | null = null;

  constructor(private readonly options: SweeperOptions) {}

  /** Starts the timer; the first pass comes after one interval. */
  start(): void {
    const { clock, intervalMs, log } = this.options;
    this.#timer = clock.after(intervalMs, () => {
      void this.sweep().catch((thrown: unknown) => {
        if (!this.#stopped.signal.aborted) {
          log.error("could not clean up", { why: messageOf(thrown) });
        }
      }).finally(() => {
        if (!this.#stopped.signal.aborted) this.start();
      });
    });
  }

  /** One pass; while one runs, that one. */
  sweep(): Promise<SweepResult> {
    this.#running ??= this.#pass().finally(() => this.#running = null);
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort(new Error("the bridge is shutting down"));
    this.#timer?.[Symbol.dispose]();
    await this.#running?.catch(() => {});
  }

  async #pass(): Promise<SweepResult> {
    const { records, fleet, log } = this.options;
    const before = records.all;
    const result = { checked: 0, destroyed: 0, blocked: 0, skipped: 0, forgotten: 0 };
    const waiting = [...before];
    const work = async () => {
      for (let record = waiting.shift(); record !== undefined; record = waiting.shift()) {
        this.#stopped.signal.throwIfAborted();
        const outcome = await this.#clean(record, () => void (result.checked += 1));
        if (outcome !== "kept") result[outcome] += 1;
      }
    };
    try {
      await Promise.all(Array.from({ length: concurrencyMax }, work));
    } finally {
      if (records.all !== before) fleet.changed();
    }
    if (result.destroyed + result.blocked + result.forgotten > 0) {
      log.info("cleaned up", { ...result });
    }
    return result;
  }

  async #clean(record: EphemeralWorkspace, checked: () => void): Promise<Outcome> {
    const { records, fleet } = this.options;
    try {
      const { signal } = this.#stopped;
      switch (firstStep(await fleet.presence(record.ship, record, signal))) {
        case "skip":
          return "skipped";
        case "forget":
          await records.replace(record, null);
          return "forgotten";
        case "readPull":
      }
      const pull = await this.#newestPull(record);
      if (pull === "unknown") return "skipped";
      checked();
      const step = stepOf(record, pull);
      if (step.kind === "destroy") return await this.#destroy(record, step.record);
      await this.#keep(record, step.record);
      return "kept";
    } catch (thrown) {
      if (this.#stopped.signal.aborted) throw thrown;
      this.#logSkipped(record, thrown);
      return "skipped";
    }
  }

  async #newestPull(record: EphemeralWorkspace): Promise<PullState | null | "unknown"> {
    const { providers, repo } = this.options;
    const registered = repo(record.repoName);
    if (registered === null) return "unknown";
    return await providers.open(registered, "pull requests")
      .newestPull(record.branch, this.#stopped.signal);
  }

  async #destroy(record: EphemeralWorkspace, next: EphemeralWorkspace): Promise<Outcome> {
    const { records, fleet, clock } = this.options;
    // Deleted and made anew by somebody meanwhile: this is no longer the workspace that was judged.
    if (!records.all.includes(record)) return "skipped";
    try {
      await fleet.removeKeepingWork(record.ship, record);
    } catch (thrown) {
      if (isRefusal(record, thrown)) {
        const reason = messageOf(thrown);
        await this.#keep(record, blockedBy(next, reason, clock.now().toISOString()));
        return "blocked";
      }
      if (isGone(record, thrown)) {
        await records.replace(record, null);
        return "forgotten";
      }
      await this.#keep(record, next);
      throw thrown;
    }
    await records.replace(record, null);
    return "destroyed";
  }

  async #keep(record: EphemeralWorkspace, next: EphemeralWorkspace): Promise<void> {
    if (!sameRecord(record, next)) await this.options.records.replace(record, next);
  }

  #logSkipped(record: EphemeralWorkspace, thrown: unknown): void {
    this.options.log.warn("left a workspace for the next cleanup", {
      workspace: workspaceKey(record),
      ship: record.ship,
      why: messageOf(thrown),
    });
  }
}

/** The ship holds work that no remote has. Its other conflicts (busy) pass by themselves. */
function isRefusal(id: WorkspaceId, thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.status === 409 &&
    thrown.message.startsWith(failures.holdsWork.message({ ...id, found: "" }));
}

function isGone(id: WorkspaceId, thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.status === 404 &&
    thrown.message === failures.workspaceNotFound.message(id);
}
