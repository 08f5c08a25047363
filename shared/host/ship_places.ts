/** The directories of a ship: where it installs the armory, and so what it may write. */
import { join } from "node:path";
import { makeDirectory } from "./machine.ts";

/** What flags and environment say; empty lists stand for the defaults. */
export interface GivenPlaces {
  readonly home: string | null;
  readonly skillsDirs: readonly string[];
  readonly pluginsDirs: readonly string[];
  /** An empty text among them is no directory: alone it stands for none at all. */
  readonly dotfileRoots: readonly string[];
}

/** Where a ship installs the armory; all absolute. */
export interface ArmoryPlaces {
  /** Null when the ship has no HOME. */
  readonly home: string | null;
  /** Directories that carry the skills, each of them all. */
  readonly skillsDirs: readonly string[];
  readonly pluginsDirs: readonly string[];
  /** Dotfiles are installed below these only; null: wherever the map says. */
  readonly dotfileRoots: readonly string[] | null;
}

/** The defaults of the decisions ("Armory") filled in. */
export function armoryPlaces(given: GivenPlaces): ArmoryPlaces {
  const { home } = given;
  const inHome = (...paths: string[]) => home === null ? [] : paths.map((path) => join(home, path));
  return {
    home,
    skillsDirs: given.skillsDirs.length > 0
      ? given.skillsDirs
      : inHome(".agents/skills", ".claude/skills"),
    pluginsDirs: given.pluginsDirs.length > 0 ? given.pluginsDirs : inHome(".agents/plugins"),
    dotfileRoots: given.dotfileRoots.length > 0
      ? given.dotfileRoots.filter((root) => root !== "")
      : null,
  };
}

/**
 * What a ship must be allowed to write, as real paths: its own directories, which are made, and what the
 * armory goes into. Which dotfiles will come is unknown when a ship starts, so without `--dotfile-root` the
 * whole home is included (docs/decisions/0006-armory-permissions.md); with it, no more than the roots.
 */
export async function shipWritePaths(
  own: { readonly gridDirectory: string; readonly stateDirectory: string },
  places: ArmoryPlaces,
): Promise<string[]> {
  const { home, skillsDirs, pluginsDirs, dotfileRoots } = places;
  const made = [own.gridDirectory, own.stateDirectory];
  const installed = dotfileRoots === null && home !== null
    // Directories inside the home are made when something goes into them.
    ? [home, ...outside(home, skillsDirs), ...outside(home, pluginsDirs)]
    : [...skillsDirs, ...pluginsDirs, ...dotfileRoots ?? []];
  const paths: string[] = [];
  for (const path of made) paths.push(await makeDirectory(path));
  for (const path of installed) {
    // A place that cannot be had is a warning of the sync, not the end of the ship.
    const real = await makeDirectory(path).catch(() => null);
    if (real !== null) paths.push(real);
  }
  return [...new Set(paths)];
}

const outside = (home: string, paths: readonly string[]) =>
  paths.filter((path) => !path.startsWith(`${home}/`));
