/**
 * What a clone holds that no remote has (interface, ship behaviour 6). Careful in one direction: a check
 * that fails, times out or cannot see counts as work held (hardening 6).
 */
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { statIfPresent } from "../../shared/host/files.ts";
import { displayText } from "../../shared/ids.ts";
import { parseGitlinks, parseOverlooked, parsePorcelain } from "../git/parse.ts";
import type { WorkingCopy } from "../git/working_copy.ts";

/** A commit that a clone of a tag began with: the remote has it, though no branch of it may. */
export const clonedRef = "refs/grid/cloned";
const checkMs = 60_000;
const namesMax = 3;

/** Everything found, each as a phrase; empty when the clone may go. */
export async function heldWork(copy: WorkingCopy): Promise<string[]> {
  const found = await Promise.all([
    guarded("uncommitted files", () => uncommitted(copy)),
    guarded("files that git is told to overlook", () => overlooked(copy)),
    guarded("unpushed commits", () => unpushed(copy)),
    guarded("the stash", () => stash(copy)),
    guarded("submodules", () => submodules(copy)),
    guarded("operations in progress", () => unfinished(copy)),
    guarded("other worktrees", () => worktrees(copy)),
  ]);
  return found.filter((phrase) => phrase !== null);
}

async function guarded(
  what: string,
  check: () => Promise<string | null>,
): Promise<string | null> {
  try {
    return await check();
  } catch (thrown) {
    return `${what} could not be checked (${messageOf(thrown)})`;
  }
}

async function uncommitted(copy: WorkingCopy): Promise<string | null> {
  const output = await copy.read([
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=dirty",
    "--no-renames",
  ], { timeoutMs: checkMs });
  return named("uncommitted file", parsePorcelain(output));
}

async function overlooked(copy: WorkingCopy): Promise<string | null> {
  const output = await copy.read(["ls-files", "-v", "-z"], { timeoutMs: checkMs });
  const { assumed, skipped } = parseOverlooked(output);
  const present = [...assumed];
  for (const path of skipped) {
    // A sparse checkout skips files that are not there; one that is there may be changed unseen.
    if (await statIfPresent(join(copy.directory, path)) !== null) present.push(path);
  }
  return named("file that git is told to overlook", present);
}

async function unpushed(copy: WorkingCopy): Promise<string | null> {
  const has = async (ref: string) =>
    (await copy.call(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], {
      timeoutMs: checkMs,
    })).ok;
  const known = await has(clonedRef) ? [clonedRef] : [];
  const head = await has("HEAD") ? ["HEAD"] : [];
  const output = await copy.read(
    ["rev-list", "--count", "--branches", ...head, "--not", "--remotes", ...known],
    { timeoutMs: checkMs },
  );
  const count = numberOf(output);
  return count === 0 ? null : plural(count, "unpushed commit");
}

async function stash(copy: WorkingCopy): Promise<string | null> {
  const there = await copy.call(["for-each-ref", "--format=%(refname)", "refs/stash"], {
    timeoutMs: checkMs,
  });
  if (!there.ok) throw new Error(there.reason);
  if (there.stdout.trim() === "") return null;
  const listed = await copy.call(["rev-list", "--walk-reflogs", "--count", "refs/stash", "--"], {
    timeoutMs: checkMs,
  });
  return plural(
    Math.max(1, listed.ok ? numberOf(listed.stdout) : 1),
    "stash entry",
    "stash entries",
  );
}

/** Submodules are never entered, so one that is filled counts. */
async function submodules(copy: WorkingCopy): Promise<string | null> {
  const output = await copy.read(["ls-files", "--stage", "-z"], { timeoutMs: checkMs });
  const filled: string[] = [];
  for (const path of parseGitlinks(output)) {
    if (await isFilled(join(copy.directory, path))) filled.push(path);
  }
  const phrase = named("submodule", filled);
  return phrase === null ? null : `${phrase}, which could not be checked`;
}

const marks: readonly (readonly [file: string, operation: string])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
  ["sequencer", "sequence of picks"],
];

async function unfinished(copy: WorkingCopy): Promise<string | null> {
  const found = new Set<string>();
  for (const [file, operation] of marks) {
    if (await statIfPresent(join(copy.directory, ".git", file)) !== null) found.add(operation);
  }
  return found.size === 0 ? null : `an unfinished ${[...found].join(" and ")}`;
}

async function worktrees(copy: WorkingCopy): Promise<string | null> {
  return await isFilled(join(copy.directory, ".git", "worktrees"))
    ? "other worktrees of this clone, which could not be checked"
    : null;
}

async function isFilled(path: string): Promise<boolean> {
  if (!(await statIfPresent(path))?.isDirectory) return false;
  for await (const _ of Deno.readDir(path)) return true;
  return false;
}

function named(what: string, paths: readonly string[]): string | null {
  if (paths.length === 0) return null;
  const rest = paths.length > namesMax ? ", …" : "";
  const names = paths.slice(0, namesMax).map(displayText).join(", ");
  return `${
    plural(paths.length, what, what.replace(/^(.*?)(file|submodule)/, "$1$2s"))
  } (${names}${rest})`;
}

function numberOf(output: string): number {
  if (!/^\d+\n?$/.test(output)) throw new Error("git answered with no number");
  return Number(output);
}

const plural = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;
