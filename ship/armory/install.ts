/**
 * Puts a complete revision's links in place and takes those away that are no longer wanted. Whatever moment
 * it is interrupted at, running it again finishes the work: the ledger lists a link before it is made.
 */
import { basename, dirname, join } from "node:path";
import { forEachBounded } from "../../shared/bounded.ts";
import { messageOf } from "../../shared/errors.ts";
import { isWithin, statIfPresent } from "../../shared/host/files.ts";
import type { ArmoryInstall, ArmoryManifest } from "../../shared/schema/armory.ts";
import type { Ledger, LedgerFile } from "./ledger.ts";
import { byFolder, type Linker } from "./linker.ts";
import { Survey, wantedLinks, type WantedOptions } from "./places.ts";
import {
  type ArmoryLink,
  countFiles,
  countRemoved,
  type InstallPlan,
  planInstall,
} from "./plan.ts";

/** The points between which an installation can be interrupted. */
export type InstallStep = "intent" | "linked" | "switched" | "removed" | "ledger";

export interface InstallOptions extends WantedOptions {
  /** The cache: links into it are the ship's own when the ledger lists them. */
  readonly cacheDirectory: string;
  readonly linker: Linker;
  readonly ledger: LedgerFile;
  /** Shows the new revision: everything that leads through `currentPath` changes at once. */
  readonly switchRevision: () => Promise<void>;
  readonly onStep: (step: InstallStep) => void;
}

const foldersAtOnceMax = 4;

/** Installs `manifest`. When it fails before the switch, the links that it made are gone again. */
export async function install(
  manifest: ArmoryManifest,
  options: InstallOptions,
): Promise<Omit<ArmoryInstall, "installedAt">> {
  const { ledger, onStep } = options;
  const wanted = await wantedLinks(manifest, options);
  const run = new Run(wanted.links, await ledger.read(), options);
  let plan = await run.plan();
  await run.intend(plan);
  onStep("intent");
  try {
    await run.create(plan.create);
    onStep("linked");
    await options.switchRevision();
  } catch (thrown) {
    await run.undo(plan.create);
    throw thrown;
  }
  onStep("switched");
  for (const link of plan.replace) await run.replace(link);
  await run.remove(plan.remove);
  onStep("removed");
  const removed = plan.remove;
  if (changes(plan)) plan = await run.plan();
  if (removed.length > 0 && plan.create.length > 0) {
    // A file took the place of a folder, or the other way round: now there is room.
    await run.intend(plan);
    await run.create(plan.create);
    plan = await run.plan();
  }
  const failures = run.failuresOf(plan.create);
  await run.settle(plan);
  onStep("ledger");
  const inPlace = plan.keep;
  return {
    skillCount: countFiles(inPlace, "skills"),
    pluginCount: countFiles(inPlace, "plugins"),
    dotfileCount: countFiles(inPlace, "dotfiles"),
    removedCount: countRemoved(removed, new Set(manifest.entries.map(({ path }) => path))),
    conflicts: [...new Set(plan.conflicts)].sort(),
    warnings: [...wanted.warnings, ...failures],
  };
}

const changes = ({ create, replace, remove }: InstallPlan) =>
  create.length + replace.length + remove.length > 0;

/** One installation: the ledger as it develops, and the hands. */
class Run {
  #problem: string | null = null;

  constructor(
    private readonly wanted: readonly ArmoryLink[],
    private ledger: Ledger,
    private readonly options: InstallOptions,
  ) {}

  /** What is to be done, as the file system is now. */
  async plan(): Promise<InstallPlan> {
    const survey = new Survey();
    await survey.look([...this.ledger.links, ...this.wanted].map((link) => link.destination));
    return planInstall(this.ledger.links, this.wanted, {
      found: (destination) => survey.found(destination),
      inCache: (target) => isWithin(this.options.cacheDirectory, target),
    });
  }

  /** Lists in the ledger what is about to be made. */
  async intend({ create, replace }: InstallPlan): Promise<void> {
    const links = new Map(this.ledger.links.map((link) => [link.destination, link]));
    for (const link of [...create, ...replace]) links.set(link.destination, link);
    const folders = new Set(this.ledger.folders);
    for (const folder of byFolder(create).keys()) await addMissing(folder, folders);
    await this.#write({ links: [...links.values()], folders: [...folders] });
  }

  /** Makes links where nothing stands; what failed is found by planning again. */
  async create(links: readonly ArmoryLink[]): Promise<void> {
    await forEachBounded(byFolder(links), foldersAtOnceMax, async ([folder, inside]) => {
      try {
        await Deno.mkdir(folder, { recursive: true });
        await this.#createIn(folder, inside);
      } catch (thrown) {
        this.#problem = messageOf(thrown);
      }
    });
  }

  /** Points the ship's own link at another target, at once. */
  async replace({ target, destination }: ArmoryLink): Promise<void> {
    const temporary = `${destination}.grid-armory`;
    const info = await statIfPresent(temporary);
    if (info?.isSymlink && isWithin(this.options.cacheDirectory, await Deno.readLink(temporary))) {
      // Left by an interrupted run.
      await Deno.remove(temporary);
    }
    await this.options.linker.link(target, temporary);
    await Deno.rename(temporary, destination);
  }

  async remove(links: readonly ArmoryLink[]): Promise<void> {
    for (const { destination } of links) await Deno.remove(destination).catch(ignoreMissing);
    // Deepest first, and only what was made for links and is empty now.
    for (const folder of this.ledger.folders.toSorted((a, b) => b.length - a.length)) {
      if (this.wanted.some(({ destination }) => isWithin(folder, dirname(destination)))) continue;
      await Deno.remove(folder).catch(() => {});
    }
  }

  /** Takes away what `create` made of these. Errors are swallowed: the next run does it again. */
  async undo(links: readonly ArmoryLink[]): Promise<void> {
    for (const { destination, target } of links) {
      const found = await Deno.readLink(destination).catch(() => null);
      if (found === target) await Deno.remove(destination).catch(() => {});
    }
  }

  /** A warning for each dotfile that could not be linked. Throws for anything else. */
  failuresOf(links: readonly ArmoryLink[]): string[] {
    const why = this.#problem ?? "it was not made";
    const other = links.find(({ section }) => section !== "dotfiles");
    if (other !== undefined) throw new Error(`${other.destination}: ${why}`);
    return links.map(({ path, destination }) =>
      `${path} is not installed at ${destination}: ${why}`
    );
  }

  /** The ledger lists what is there, and no more. */
  async settle({ keep, replace }: InstallPlan): Promise<void> {
    const folders: string[] = [];
    for (const folder of this.ledger.folders) {
      if ((await statIfPresent(folder))?.isDirectory) folders.push(folder);
    }
    await this.#write({ links: [...keep, ...replace], folders });
  }

  async #createIn(folder: string, links: readonly ArmoryLink[]): Promise<void> {
    const sameName = ({ destination, target }: ArmoryLink) =>
      basename(destination) === basename(target);
    const { linker } = this.options;
    const batch = links.filter(sameName).map(({ target }) => target);
    this.#problem = await linker.linkInto(folder, batch) ?? this.#problem;
    for (const link of links.filter((one) => !sameName(one))) {
      await linker.link(link.target, link.destination);
    }
  }

  async #write(ledger: Ledger): Promise<void> {
    await this.options.ledger.write(ledger);
    this.ledger = ledger;
  }
}

/** Adds `folder` and what is missing above it. */
async function addMissing(folder: string, missing: Set<string>): Promise<void> {
  for (let at = folder; !missing.has(at); at = join(at, "..")) {
    if (await statIfPresent(at) !== null) return;
    missing.add(at);
  }
}

function ignoreMissing(thrown: unknown): void {
  if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
}
