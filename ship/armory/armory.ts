/** The ship's armory: pulls it from the one bridge that it is pinned to, verifies it and installs it. */
import { join } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { fail, Failure, messageOf } from "../../shared/errors.ts";
import type { LaneOptions } from "../../shared/host/command.ts";
import { statIfPresent } from "../../shared/host/files.ts";
import { JsonFile } from "../../shared/host/json_file.ts";
import type { Resolve } from "../../shared/host/resolve.ts";
import type { ArmoryPlaces } from "../../shared/host/ship_places.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import {
  type ArmoryInstall,
  type ArmoryManifest,
  type ArmoryPush,
  type ArmorySyncState,
  armorySyncStateSchema,
} from "../../shared/schema/armory.ts";
import { ArmoryCache, type RevisionRecord } from "./cache.ts";
import { install, type InstallStep } from "./install.ts";
import { LedgerFile } from "./ledger.ts";
import { Linker } from "./linker.ts";
import { Pin } from "./pin.ts";
import { pullFile, pullManifest } from "./pull.ts";

/** Where a sync can be interrupted, in order; `file` and `installed` steps come several times. */
export type SyncStep =
  | "manifest"
  | "file"
  | "filled"
  | "complete"
  | InstallStep
  | "state"
  | "pruned";

export interface ShipArmoryOptions {
  /** Absolute; holds the cache, the ledger and the state. */
  readonly stateDirectory: string;
  readonly places: ArmoryPlaces;
  /** The origin of `--bridge-url`; null: whoever pushes first. */
  readonly bridgeUrl: string | null;
  readonly shipToken: string | null;
  /** Whether pushes come from somebody who proved who they are. */
  readonly authenticated: boolean;
  readonly lane: Pick<LaneOptions, "timeoutPath" | "environment">;
  readonly lnPath: string;
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the bridge may take for one answer (default `limits.shipCallMs`). */
  readonly answerMs?: number;
  /** Called at each step, for tests that end the process there. */
  readonly onStep?: (step: SyncStep) => void;
}

const never: ArmorySyncState = {
  revision: null,
  bridgeUrl: null,
  syncedAt: null,
  fileCount: 0,
  install: null,
  lastError: null,
};
const empty: ArmoryManifest = { revision: "0".repeat(64), entries: [], dotfileMap: {} };
/** The bridge waits so long for the whole sync; its pull must leave time to install. */
const pullMs = limits.shipArmorySyncMs - 20_000;

/** The parts that need the state directory's real path. */
interface Opened {
  readonly stateDirectory: string;
  readonly cache: ArmoryCache;
  readonly ledger: LedgerFile;
  readonly stateFile: JsonFile<typeof armorySyncStateSchema>;
}

export class ShipArmory implements AsyncDisposable {
  readonly #linker: Linker;
  readonly #pin: Pin;
  readonly #stopped = new AbortController();
  #state: ArmorySyncState = never;
  #opened: Promise<Opened> | null = null;
  #running: Promise<ArmorySyncState> | null = null;
  #next: Promise<ArmorySyncState> | null = null;

  constructor(private readonly options: ShipArmoryOptions) {
    const { lane, lnPath, bridgeUrl, authenticated, resolve, log } = options;
    this.#linker = new Linker(lane, lnPath);
    this.#pin = new Pin({ bridgeUrl, authenticated, resolve, log });
  }

  /**
   * Reads what earlier runs left and finishes an interrupted installation. Kept files that are damaged are
   * reported as `lastError`: the ship's workspaces do not depend on them.
   */
  async start(): Promise<void> {
    if (await statIfPresent(this.options.stateDirectory) === null) return;
    try {
      await this.#resume(await this.#open());
    } catch (thrown) {
      this.#state = { ...this.#state, lastError: messageOf(thrown) };
      this.options.log.error("the armory could not be resumed", { why: messageOf(thrown) });
    }
  }

  /** As it is now; asks nobody. */
  get state(): ArmorySyncState {
    return this.#state;
  }

  /**
   * Pulls and installs what the bridge has. Pushes that come while a sync runs share the one after it. Throws
   * `armoryPinned`, `bridgeUrlRefused`, `armoryPullFailed`, `armoryInstallFailed`.
   */
  async sync({ bridgeUrl }: ArmoryPush): Promise<ArmorySyncState> {
    this.#stopped.signal.throwIfAborted();
    const opened = await this.#open().catch((thrown: unknown) => {
      throw failureOf(thrown);
    });
    await this.#pin.admit(bridgeUrl);
    if (this.#running === null) return await this.#run(opened, bridgeUrl);
    this.#next ??= this.#running.catch(() => {}).then(() => {
      this.#next = null;
      return this.#run(opened, bridgeUrl);
    });
    return await this.#next;
  }

  /** Ends a pull that is under way; an installation finishes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort(new Error("the ship is shutting down"));
    await this.#running?.catch(() => {});
    await this.#next?.catch(() => {});
  }

  #run(opened: Opened, bridgeUrl: string): Promise<ArmorySyncState> {
    const running = this.#attempt(opened, bridgeUrl).finally(() => this.#running = null);
    this.#running = running;
    return running;
  }

  async #attempt(opened: Opened, bridgeUrl: string): Promise<ArmorySyncState> {
    const { log } = this.options;
    try {
      this.#stopped.signal.throwIfAborted();
      await this.#syncOnce(opened, bridgeUrl);
      log.info("armory synced", { revision: this.#state.revision, files: this.#state.fileCount });
      for (const warning of this.#state.install?.warnings ?? []) log.warn(warning);
      return this.#state;
    } catch (thrown) {
      const failure = failureOf(thrown);
      this.#state = { ...this.#state, lastError: failure.message };
      log.error("armory sync failed", { why: failure.message });
      // The failure is told in any case; that it is also kept is a kindness.
      await opened.stateFile.write(this.#state).catch(() => {});
      throw failure;
    }
  }

  async #syncOnce(opened: Opened, bridgeUrl: string): Promise<void> {
    const { cache } = opened;
    const { shipToken, answerMs = limits.shipCallMs, clock } = this.options;
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(pullMs)]);
    const pull = { bridgeUrl, shipToken, answerMs, signal };
    const manifest = await pullManifest(pull);
    this.#step("manifest");
    await cache.open();
    const earlier = await cache.current();
    const before = earlier?.manifest.revision ?? null;
    // What interrupted pulls of other revisions left.
    await cache.prune(before, manifest.revision);
    try {
      await cache.fill({
        manifest,
        earlier: earlier?.manifest ?? null,
        fetch: (entry) => pullFile(pull, entry),
        onFile: () => this.#step("file"),
      });
      this.#step("filled");
      const pulledAt = clock.now().toISOString();
      const record = { bridgeUrl, pulledAt, manifest };
      await cache.complete(record);
      this.#step("complete");
      await this.#install(opened, record, () => cache.switchTo(manifest.revision));
    } catch (thrown) {
      // A disk that is full must not stay so because of us.
      const isOurs = !(thrown instanceof Failure) || thrown.code !== "armoryPullFailed";
      if (isOurs) await this.#dropUnused(cache, manifest.revision);
      throw thrown;
    }
    await cache.prune(manifest.revision);
    this.#step("pruned");
  }

  async #install(
    opened: Opened,
    record: RevisionRecord,
    switchRevision: () => Promise<void>,
  ): Promise<void> {
    const { places, authenticated, clock } = this.options;
    const { manifest, bridgeUrl, pulledAt } = record;
    const done = await install(manifest, {
      places,
      authenticated,
      stateDirectory: opened.stateDirectory,
      cacheDirectory: opened.cache.directory,
      currentPath: opened.cache.currentPath,
      linker: this.#linker,
      ledger: opened.ledger,
      switchRevision: async () => {
        await switchRevision();
        this.#state = {
          ...this.#state,
          revision: manifest.revision,
          bridgeUrl,
          syncedAt: pulledAt,
          fileCount: manifest.entries.length,
        };
      },
      onStep: (step) => this.#step(step),
    });
    const installed: ArmoryInstall = { ...done, installedAt: clock.now().toISOString() };
    this.#state = { ...this.#state, install: installed, lastError: null };
    await opened.stateFile.write(this.#state);
    this.#step("state");
  }

  /** The revision that could not be installed goes, unless it is the one that is shown. */
  async #dropUnused(cache: ArmoryCache, revision: string): Promise<void> {
    try {
      const current = await cache.current();
      if (current?.manifest.revision !== revision) {
        await cache.prune(current?.manifest.revision ?? null);
      }
    } catch {
      // The next sync cleans up.
    }
  }

  async #resume({ cache, ledger, stateFile, ...rest }: Opened): Promise<void> {
    this.#state = await stateFile.read() ?? never;
    const { links } = await ledger.read();
    if (links.length === 0 && await statIfPresent(cache.directory) === null) return;
    await cache.open();
    const record = await cache.current();
    const opened = { cache, ledger, stateFile, ...rest };
    if (record !== null && record.manifest.revision !== this.#state.revision) {
      this.options.log.info("an interrupted armory sync is finished", {
        revision: record.manifest.revision,
      });
      await this.#install(opened, record, () => Promise.resolve());
      return;
    }
    // What an interrupted sync was about to add goes again, what was removed by hand comes back.
    await install(record?.manifest ?? empty, {
      places: this.options.places,
      authenticated: this.options.authenticated,
      stateDirectory: opened.stateDirectory,
      cacheDirectory: cache.directory,
      currentPath: cache.currentPath,
      linker: this.#linker,
      ledger,
      switchRevision: () => Promise.resolve(),
      onStep: () => {},
    });
    await cache.prune(record?.manifest.revision ?? null);
  }

  /** Once for all, unless it fails: then whoever comes next tries again. */
  #open(): Promise<Opened> {
    this.#opened ??= this.#openOnce().catch((thrown: unknown) => {
      this.#opened = null;
      throw thrown;
    });
    return this.#opened;
  }

  async #openOnce(): Promise<Opened> {
    await Deno.mkdir(this.options.stateDirectory, { recursive: true, mode: 0o700 });
    const stateDirectory = await Deno.realPath(this.options.stateDirectory);
    await this.#pin.load(stateDirectory);
    return {
      stateDirectory,
      cache: new ArmoryCache(join(stateDirectory, "armory"), this.#linker),
      ledger: new LedgerFile(stateDirectory),
      stateFile: new JsonFile({
        path: join(stateDirectory, "armory-state.json"),
        version: 1,
        key: "state",
        schema: armorySyncStateSchema,
      }),
    };
  }

  #step(step: SyncStep): void {
    this.options.onStep?.(step);
  }
}

/** What is no failure of the pull is one of the installation. */
function failureOf(thrown: unknown): Failure {
  const own = ["armoryPullFailed", "armoryInstallFailed", "tooBusy"];
  if (thrown instanceof Failure && own.includes(thrown.code)) return thrown;
  return fail("armoryInstallFailed", { why: messageOf(thrown) }, { cause: thrown });
}
