/** What a ship takes of an armory that somebody else wrote, and what it warns about. Pure. */
import { parseDestination, unsafePathRule } from "../../shared/armory_paths.ts";
import { collisionForm } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import type { ArmoryManifest } from "../../shared/schema/armory.ts";

/** The first rule that a manifest breaks, as a sentence about it; null when it can be applied. */
export function brokenManifestRule({ entries, dotfileMap }: ArmoryManifest): string | null {
  const files = new Map<string, string>();
  const folders = new Set<string>();
  let bytes = 0;
  for (const { path, section, size } of entries) {
    const rule = unsafePathRule(path);
    if (rule !== null) return `the path ${quoted(path)} ${rule}`;
    if (!path.startsWith(`${section}/`)) return `${quoted(path)} does not lie in ${section}/`;
    // Where names are folded, two files would become one.
    const form = collisionForm(path);
    const other = files.get(form);
    if (other === path) return `${quoted(path)} is listed twice`;
    if (other !== undefined) {
      return `${quoted(path)} and ${quoted(other)} differ only in case or Unicode form`;
    }
    files.set(form, path);
    for (const folder of foldersOf(form)) folders.add(folder);
    bytes += size;
  }
  for (const [form, path] of files) {
    if (folders.has(form)) return `${quoted(path)} is a file and a folder`;
  }
  if (bytes > limits.armoryTotalBytesMax) {
    return `its files have ${bytes} bytes, more than ${limits.armoryTotalBytesMax}`;
  }
  return brokenMapRule(dotfileMap);
}

function brokenMapRule(dotfileMap: ArmoryManifest["dotfileMap"]): string | null {
  const pairs = Object.entries(dotfileMap);
  if (pairs.length > limits.armoryEntriesMax) {
    return `its dotfile map has more than ${limits.armoryEntriesMax} entries`;
  }
  for (const [path, destination] of pairs) {
    const rule = unsafePathRule(path);
    if (rule !== null) return `the path ${quoted(path)} in its dotfile map ${rule}`;
    const parsed = parseDestination(destination);
    if ("why" in parsed) return `the destination of ${quoted(path)} ${parsed.why}`;
  }
  return null;
}

/** `a/b` and `a` of `a/b/c`. */
function foldersOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** Long or strange names are cut and escaped: they end up in `lastError`. */
const quoted = (path: string) => JSON.stringify(path.slice(0, 200));

const startFiles = new Set([
  ".bash_login",
  ".bash_profile",
  ".bashrc",
  ".kshrc",
  ".login",
  ".pam_environment",
  ".profile",
  ".tcshrc",
  ".cshrc",
  ".xinitrc",
  ".xprofile",
  ".xsession",
  ".xsessionrc",
  ".zlogin",
  ".zprofile",
  ".zshenv",
  ".zshrc",
  ".config/fish/config.fish",
]);
const startFolders = [
  ".config/autostart/",
  ".config/environment.d/",
  ".config/fish/conf.d/",
  ".config/systemd/user/",
  ".local/share/systemd/user/",
  "Library/LaunchAgents/",
];

/**
 * Why a dotfile at `path` (relative to the home) deserves a warning when nobody had to prove who sent it;
 * null when it does not.
 */
export function sensitiveReason(path: string): string | null {
  const folded = path.toLowerCase();
  if (folded.startsWith(".ssh/")) return "lies under .ssh/";
  const runs = startFiles.has(folded) ||
    startFolders.some((folder) => folded.startsWith(folder.toLowerCase()));
  return runs ? "runs at login" : null;
}
