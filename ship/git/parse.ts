/** Text that git writes, read. Pure. */
import type { CloneProgress } from "../../shared/schema/workspace.ts";

/** Where HEAD stands. `branch` may be unborn: the file does not tell, and listing need not know. */
export type Head =
  | { readonly kind: "branch"; readonly branch: string }
  | { readonly kind: "detached"; readonly oid: string }
  /** Not readable from the file alone (a reftable repository, an unusual ref): ask git. */
  | { readonly kind: "unknown" };

const headRef = /^ref:[ \t]*(\S.*?)[ \t]*\n?$/;
const headOid = /^([0-9a-f]{40}|[0-9a-f]{64})\n?$/;
const headsPrefix = "refs/heads/";
export const shortOidCharacters = 7;

/** Reads the file `HEAD`: `ref: refs/heads/main\n`, or an object's name. */
export function parseHead(text: string): Head {
  const ref = headRef.exec(text)?.[1];
  if (ref !== undefined) return headOfRef(ref);
  const oid = headOid.exec(text)?.[1];
  return oid === undefined ? { kind: "unknown" } : { kind: "detached", oid };
}

/** The head that a symbolic ref's target makes; also what an old-style HEAD link points to. */
export function headOfRef(ref: string): Head {
  // `refs/heads/.invalid` is what a reftable repository writes into the file.
  if (!ref.startsWith(headsPrefix) || ref === `${headsPrefix}.invalid`) return { kind: "unknown" };
  return { kind: "branch", branch: ref.slice(headsPrefix.length) };
}

/** What a summary shows as `branch`: the name, or the short object name of a detached HEAD. */
export function branchOf(head: Exclude<Head, { kind: "unknown" }>): string {
  return head.kind === "branch" ? head.branch : head.oid.slice(0, shortOidCharacters);
}

/** True when a clone's configuration may move its working tree, so that only git can tell. */
export function mayMoveWorktree(config: string): boolean {
  return /worktree|\[\s*include|bare\s*=\s*(true|yes|on|1)|bare\s*$/im.test(config);
}

/** Paths of `git status --porcelain=v1 -z`: `XY path`, a rename's old path as an entry of its own. */
export function parsePorcelain(output: string): string[] {
  const entries = output.split("\0");
  const paths: string[] = [];
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] ?? "";
    if (entry.length < 4) continue;
    paths.push(entry.slice(3));
    if (/[RC]/.test(entry.slice(0, 2))) index += 1;
  }
  return paths;
}

/** Lines added and removed by `git diff --numstat -z`; binary files (`-\t-\t`) are skipped. */
export function parseNumstat(output: string): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const entry of output.split("\0")) {
    const [, plus, minus] = /^(\d+)\t(\d+)\t/.exec(entry) ?? [];
    added += Number(plus ?? 0);
    removed += Number(minus ?? 0);
  }
  return { added, removed };
}

/** Entries of `git ls-files --stage -z` that are submodules (`160000 <oid> 0\tpath`). */
export function parseGitlinks(output: string): string[] {
  return output.split("\0").flatMap((entry) =>
    /^160000 [0-9a-f]+ \d\t(.*)$/s.exec(entry)?.[1] ?? []
  );
}

/** `git ls-files -v -z` entries that `status` is told to overlook: assume-unchanged, skip-worktree. */
export function parseOverlooked(output: string): { assumed: string[]; skipped: string[] } {
  const entries = output.split("\0").filter((entry) => entry !== "");
  const paths = (mark: RegExp) =>
    entries.filter((entry) => mark.test(entry)).map((entry) => entry.slice(2));
  return { assumed: paths(/^[a-z] /), skipped: paths(/^S /) };
}

// `Receiving objects:  42% (21/50), 1.20 MiB | 2.00 MiB/s` and `remote: Enumerating objects: 5, done.`
const measured = /^(?:remote: )?([A-Z][A-Za-z ]+): +(\d+)% \((\d+)\/(\d+)\)/;
const counted = /^(?:remote: )?([A-Z][A-Za-z ]+): +(\d+)(?:, done\.)?\s*$/;

/** One line of `--progress`, or null when it is none. */
export function parseProgress(line: string): CloneProgress | null {
  const [, phase, percent, done, total] = measured.exec(line) ?? [];
  if (phase !== undefined) {
    return { phase, percent: Number(percent), done: Number(done), total: Number(total) };
  }
  const [, counting, count] = counted.exec(line) ?? [];
  return counting === undefined
    ? null
    : { phase: counting, percent: null, done: Number(count), total: null };
}

const progressLineCharactersMax = 1024;

/** Reads progress from standard error as it comes, in pieces that end anywhere. */
export function progressReader(report: (progress: CloneProgress) => void): (piece: string) => void {
  let rest = "";
  return (piece) => {
    const lines = (rest + piece).split(/[\r\n]/);
    rest = (lines.pop() ?? "").slice(-progressLineCharactersMax);
    for (const line of lines) {
      const progress = parseProgress(line);
      if (progress !== null) report(progress);
    }
  };
}

/** Entries of `git config --show-scope -z --get-regexp`: scope NUL key newline value NUL. */
export function parseScopedConfiguration(
  output: string,
): readonly { readonly scope: string; readonly key: string; readonly value: string }[] {
  const parts = output.split("\0");
  const entries = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const text = parts[index + 1] ?? "";
    const end = text.indexOf("\n");
    entries.push({
      scope: parts[index] ?? "",
      key: end < 0 ? text : text.slice(0, end),
      value: end < 0 ? "true" : text.slice(end + 1),
    });
  }
  return entries;
}
