/** The manifest from what was found: the dotfile map's rules and the revision. */
import { parseDestination, unsafePathRule } from "../../shared/armory_paths.ts";
import { faultPlace } from "../../shared/host/json_file.ts";
import type { ArmoryEntry, ArmoryManifest, DotfileMap } from "../../shared/schema/armory.ts";

/** The map, or what is wrong with it: a line per offending entry. */
export type ParsedMap =
  | { readonly ok: true; readonly map: DotfileMap }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Reads the text of `dotfile-map.json`. Pure. */
export function parseDotfileMap(text: string): ParsedMap {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, faults: [`${faultPlace(text)}: is not JSON`] };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, faults: ["must be a JSON object of paths and destinations"] };
  }
  const faults: string[] = [];
  const keyOf = new Map<string, string>();
  for (const [key, destination] of Object.entries(value)) {
    const fault = faultOf(key, destination);
    const other = typeof destination === "string" ? keyOf.get(destination) : undefined;
    if (fault !== null) faults.push(`${JSON.stringify(key)}: ${fault}`);
    else if (other !== undefined) {
      faults.push(`${JSON.stringify(key)}: has the destination of ${JSON.stringify(other)}`);
    } else keyOf.set(destination, key);
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, map: Object.fromEntries(Object.entries(value)) };
}

function faultOf(key: string, destination: unknown): string | null {
  const rule = unsafePathRule(key);
  if (rule !== null) return `the path ${rule}`;
  if (typeof destination !== "string") return "the destination must be a string";
  const parsed = parseDestination(destination);
  return "why" in parsed ? `the destination ${parsed.why}` : null;
}

/**
 * The manifest of these entries, sorted by path. Its revision is the sha256 of every path, mode and hash and
 * of the map, in an order of their own: it changes when one of them does, and never else.
 */
export async function makeManifest(
  entries: readonly ArmoryEntry[],
  dotfileMap: DotfileMap,
): Promise<ArmoryManifest> {
  const text = JSON.stringify([
    "armory 1",
    entries.map(({ path, mode, sha256 }) => [path, mode, sha256]),
    Object.entries(dotfileMap).sort(([a], [b]) => a < b ? -1 : 1),
  ]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return { revision: new Uint8Array(digest).toHex(), entries: [...entries], dotfileMap };
}
