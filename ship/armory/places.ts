/** Where the armory's files belong on this host, with the links above each place resolved. */
import { basename, dirname, join } from "node:path";
import { parseDestination } from "../../shared/armory_paths.ts";
import { isWithin, statIfPresent } from "../../shared/host/files.ts";
import type { ArmoryPlaces } from "../../shared/host/ship_places.ts";
import type { ArmoryManifest, ArmorySection } from "../../shared/schema/armory.ts";
import type { ArmoryLink, Found } from "./plan.ts";
import { sensitiveReason } from "./policy.ts";

export interface WantedOptions {
  readonly places: ArmoryPlaces;
  /** What links lead through: `<cache>/current`. */
  readonly currentPath: string;
  /** The ship's own state: nothing is installed below it. */
  readonly stateDirectory: string;
  /** Whether pushes come from somebody who proved who they are. */
  readonly authenticated: boolean;
}

export interface Wanted {
  readonly links: readonly ArmoryLink[];
  /** A sentence for each mapping that is skipped or deserves a look. */
  readonly warnings: readonly string[];
}

/** Every link that the manifest asks for and this ship may make. */
export async function wantedLinks(
  manifest: ArmoryManifest,
  options: WantedOptions,
): Promise<Wanted> {
  const { places, currentPath } = options;
  const byDestination = new Map<string, ArmoryLink>();
  const warnings: string[] = [];
  for (
    const [section, roots] of [["skills", places.skillsDirs], [
      "plugins",
      places.pluginsDirs,
    ]] as const
  ) {
    for (const root of await realRoots(roots, section, warnings)) {
      for (const { path } of manifest.entries.filter((entry) => entry.section === section)) {
        const destination = join(root, path.slice(section.length + 1));
        byDestination.set(destination, {
          destination,
          target: join(currentPath, path),
          section,
          path,
        });
      }
    }
  }
  const carried = new Set(manifest.entries.map(({ path }) => path));
  for (const [key, text] of Object.entries(manifest.dotfileMap)) {
    const path = `dotfiles/${key}`;
    const refuse = (why: string) => warnings.push(`${path} is not installed at ${text}: ${why}`);
    if (!carried.has(path)) {
      refuse("the armory has no such file");
      continue;
    }
    const found = await dotfileDestination(text, options);
    if ("why" in found) refuse(found.why);
    else if (byDestination.has(found.destination)) refuse("another file is installed there");
    else {
      const { destination } = found;
      byDestination.set(destination, {
        destination,
        target: join(currentPath, path),
        section: "dotfiles",
        path,
      });
      if (found.sensitive !== null && !options.authenticated) {
        warnings.push(
          `${path} is installed at ${text}, which ${found.sensitive}, and nobody had to prove who ` +
            `sent it: set GRID_BRIDGE_TOKEN for this ship`,
        );
      }
    }
  }
  return { links: [...byDestination.values()], warnings };
}

async function realRoots(
  roots: readonly string[],
  section: ArmorySection,
  warnings: string[],
): Promise<Set<string>> {
  const real = new Set<string>();
  for (const root of roots) {
    const found = await realFolder(root);
    if (found === null) warnings.push(`${section} are not installed in ${root}: it is no folder`);
    else real.add(found);
  }
  return real;
}

/** Where a mapping leads in the end, or why it is skipped. */
async function dotfileDestination(
  text: string,
  { places, stateDirectory }: WantedOptions,
): Promise<{ destination: string; sensitive: string | null } | { why: string }> {
  const parsed = parseDestination(text);
  if ("why" in parsed) return parsed;
  const { home, dotfileRoots } = places;
  if (parsed.root === "home" && home === null) return { why: "HOME is not set for this ship" };
  const given = join(parsed.root === "home" ? home ?? "/" : "/", parsed.path);
  try {
    const folder = await realFolder(dirname(given));
    if (folder === null) return { why: "what stands above it is no folder" };
    const destination = join(folder, basename(given));
    const realHome = home === null ? null : await realFolder(home);
    const inHome = realHome !== null && isWithin(realHome, destination) && destination !== realHome;
    if (parsed.root === "home" && !inHome) {
      return { why: "links lead it out of the home directory" };
    }
    if (isWithin(stateDirectory, destination)) return { why: "the ship keeps its own state there" };
    if (dotfileRoots !== null && !await isBelow(dotfileRoots, destination)) {
      return { why: "it is outside of every --dotfile-root" };
    }
    const inside = inHome && realHome !== null ? destination.slice(realHome.length + 1) : null;
    return { destination, sensitive: inside === null ? null : sensitiveReason(inside) };
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotCapable)) throw thrown;
    return { why: "this ship was started without the right to write there: see --dotfile-root" };
  }
}

async function isBelow(roots: readonly string[], destination: string): Promise<boolean> {
  for (const root of roots) {
    const real = await realFolder(root);
    if (real !== null && isWithin(real, destination)) return true;
  }
  return false;
}

/**
 * The real path of a folder that may still be missing: of the deepest part that exists, and the rest after it.
 * Null when that part is no folder, or a link to nothing.
 */
export async function realFolder(path: string): Promise<string | null> {
  const rest: string[] = [];
  for (let at = path;; at = dirname(at)) {
    const info = await statIfPresent(at);
    if (info !== null) {
      const whole = await Deno.stat(at).catch(() => null);
      if (!whole?.isDirectory) return null;
      return join(await Deno.realPath(at), ...rest);
    }
    if (at === dirname(at)) return null;
    rest.unshift(basename(at));
  }
}

/** Looks at destinations; folders are looked at once. Make a new one after each change. */
export class Survey {
  readonly #found = new Map<string, Found>();
  readonly #folders = new Map<string, Promise<string | null>>();

  /** What stands at each of these, for `found`. */
  async look(destinations: Iterable<string>): Promise<void> {
    for (const destination of destinations) {
      if (this.#found.has(destination)) continue;
      this.#found.set(destination, await this.#lookAt(destination));
    }
  }

  found(destination: string): Found {
    const found = this.#found.get(destination);
    if (found === undefined) throw new Error(`nobody looked at ${destination}`);
    return found;
  }

  async #lookAt(destination: string): Promise<Found> {
    const folder = dirname(destination);
    let real = this.#folders.get(folder);
    if (real === undefined) this.#folders.set(folder, real = realFolder(folder));
    if (await real !== folder) return { kind: "blocked" };
    const info = await statIfPresent(destination);
    if (info === null) return { kind: "nothing" };
    if (!info.isSymlink) return { kind: "other" };
    return { kind: "link", target: await Deno.readLink(destination) };
  }
}
