/** What an installation has to do: the ledger and the file system against what should be there. Pure. */
import type { ArmorySection } from "../../shared/schema/armory.ts";

/** A link that the ship made or wants: at `destination`, to `target`, for the armory's `path`. */
export interface ArmoryLink {
  /** Absolute, links above it resolved. */
  readonly destination: string;
  /** Absolute, in the cache. */
  readonly target: string;
  readonly section: ArmorySection;
  readonly path: string;
}

/** What stands at a destination. `blocked`: something that is no folder of its own stands above it. */
export type Found =
  | { readonly kind: "nothing" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" }
  | { readonly kind: "blocked" };

export interface InstallPlan {
  /** Already as they should be. */
  readonly keep: readonly ArmoryLink[];
  /** Nothing stands there. */
  readonly create: readonly ArmoryLink[];
  /** The ship's own link stands there with another target. */
  readonly replace: readonly ArmoryLink[];
  /** The ship's own links that are no longer wanted. */
  readonly remove: readonly ArmoryLink[];
  /** Destinations where something stands that is not the ship's. */
  readonly conflicts: readonly string[];
}

/**
 * Only a link that the ledger lists and that still leads into the cache is the ship's own. `found` answers for
 * every destination of both lists; `inCache` tells whether a link's target lies in the cache.
 */
export function planInstall(
  ledger: readonly ArmoryLink[],
  wanted: readonly ArmoryLink[],
  at: {
    readonly found: (destination: string) => Found;
    readonly inCache: (target: string) => boolean;
  },
): InstallPlan {
  const listed = new Set(ledger.map(({ destination }) => destination));
  const wantedAt = new Set(wanted.map(({ destination }) => destination));
  const isOwn = (destination: string, found: Found) =>
    listed.has(destination) && found.kind === "link" && at.inCache(found.target);
  const keep: ArmoryLink[] = [];
  const create: ArmoryLink[] = [];
  const replace: ArmoryLink[] = [];
  const conflicts: string[] = [];
  for (const link of wanted) {
    const found = at.found(link.destination);
    if (found.kind === "nothing") create.push(link);
    else if (!isOwn(link.destination, found)) conflicts.push(link.destination);
    else if (found.kind === "link" && found.target === link.target) keep.push(link);
    else replace.push(link);
  }
  const remove = ledger.filter(({ destination }) =>
    !wantedAt.has(destination) && isOwn(destination, at.found(destination))
  );
  return { keep, create, replace, remove, conflicts };
}

/** How many files of a section have a link; one that several directories carry counts once. */
export function countFiles(links: readonly ArmoryLink[], section: ArmorySection): number {
  return new Set(links.filter((link) => link.section === section).map(({ path }) => path)).size;
}

/** How many files lost their links because the armory no longer has them. */
export function countRemoved(
  removed: readonly ArmoryLink[],
  carried: ReadonlySet<string>,
): number {
  return new Set(removed.map(({ path }) => path).filter((path) => !carried.has(path))).size;
}
