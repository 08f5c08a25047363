/** Which files of the armory's directory are part of the armory. Pure. */
import { unsafePathRule } from "../../shared/armory_paths.ts";
import { type ArmorySection, armorySections } from "../../shared/schema/armory.ts";

/** The section that an armory path lies in; null for a path that lies in none and for a section itself. */
export function sectionOf(path: string): ArmorySection | null {
  return armorySections.find((section) => path.startsWith(`${section}/`)) ?? null;
}

/** Whether a folder or file of this name is left out, whatever it holds. */
export function isLeftOut(name: string): boolean {
  return name === ".git" || name === ".DS_Store";
}

/** Whether a regular file at this armory path is listed. */
export function isListable(path: string): boolean {
  return unsafePathRule(path) === null && sectionOf(path) !== null &&
    !path.split("/").some(isLeftOut);
}

/** 0o755 for what anybody may execute, else 0o644. */
export function normalMode(mode: number | null): 0o755 | 0o644 {
  return ((mode ?? 0) & 0o111) === 0 ? 0o644 : 0o755;
}
