/**
 * What takes the teeth out of a hostile clone (hardening 4). Each line overrules a key by which the
 * clone's own configuration could run a program or change what a check sees.
 */
import type { GitConfiguration } from "../../shared/git/environment.ts";

export const neutralConfiguration: GitConfiguration = [
  // programs
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.sshCommand", "/bin/false"],
  ["core.gitProxy", ""],
  ["core.askPass", "/bin/false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.alternateRefsCommand", ""],
  ["credential.helper", ""],
  ["diff.external", ""],
  ["gpg.program", "/bin/false"],
  ["gpg.ssh.program", "/bin/false"],
  ["gpg.x509.program", "/bin/false"],
  ["log.showSignature", "false"],
  ["protocol.ext.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // submodules are never entered
  ["submodule.recurse", "false"],
  ["status.submoduleSummary", "false"],
  ["diff.submodule", "short"],
  // what a check sees
  ["core.attributesFile", "/dev/null"],
  ["core.untrackedCache", "false"],
  ["core.ignoreStat", "false"],
  ["core.checkStat", "default"],
  ["color.ui", "false"],
  ["diff.noprefix", "false"],
  ["diff.mnemonicPrefix", "false"],
  ["diff.relative", "false"],
  ["advice.detachedHead", "false"],
];

/** Flags of every `diff`. `-O/dev/null` cancels `diff.orderFile`. */
export const neutralDiffFlags: readonly string[] = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--submodule=short",
  "--ignore-submodules=dirty",
  "-O/dev/null",
];

/** One key of the configuration, and where it was set. */
interface ScopedEntry {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Configuration that disarms the filter drivers a clone defines for itself. A driver that the operator
 * defines too (git-lfs, say) is set back to the operator's words; any other becomes a driver that does
 * nothing and is not required.
 */
export function neutralFilters(entries: readonly ScopedEntry[]): GitConfiguration {
  const operators = new Map<string, string>();
  const drivers = new Set<string>();
  for (const { scope, key, value } of entries) {
    const driver = /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1];
    if (scope === "system" || scope === "global") operators.set(key, value);
    else if (driver !== undefined && scope !== "command") drivers.add(driver);
  }
  return [...drivers].flatMap((driver) =>
    ["clean", "smudge", "process", "required"].map((verb) => {
      const key = `filter.${driver}.${verb}`;
      return [key, operators.get(key) ?? (verb === "required" ? "false" : "")] as const;
    })
  );
}
