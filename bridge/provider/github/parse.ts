/** What GitHub's URLs, states and logs mean. Pure. */
import { parseCloneUrl } from "../../../shared/git/url.ts";
import type { Check, Checks } from "../../../shared/schema/forge.ts";

/** A repository on GitHub. */
export interface Slug {
  readonly owner: string;
  readonly repo: string;
}

/**
 * Owner and name out of a clone URL: `https://host/owner/name.git`, `ssh://git@host/owner/name`,
 * `git@host:owner/name.git`. Null for anything else, paths and `file:` URLs included.
 */
export function parseSlug(cloneUrl: string): Slug | null {
  const parsed = parseCloneUrl(cloneUrl);
  if (!parsed.ok) return null;
  const { forGit } = parsed.url;
  const path = /^(?:https?|ssh|git):\/\/[^/]+\/(.+)$/.exec(forGit)?.[1] ??
    /^[^/:]+:(?!\/\/)\/?(.+)$/.exec(forGit)?.[1];
  if (path === undefined) return null;
  const match = /^([A-Za-z0-9-_.]+)\/([A-Za-z0-9-_.]+?)(?:\.git)?\/?$/.exec(
    path.split("?")[0] ?? "",
  );
  const owner = match?.[1] ?? "";
  const repo = match?.[2] ?? "";
  // A segment of dots would walk up in the API's path.
  return /^\.*$/.test(owner) || /^\.*$/.test(repo) ? null : { owner, repo };
}

/** GitHub's name for the author of what a deleted account wrote. */
export const ghost = "ghost";

/** GitHub knows open and closed; merged is closed with a date. */
export function pullStateOf(
  pull: { readonly state: string; readonly merged_at?: string | null },
): "open" | "closed" | "merged" {
  if (pull.state === "open") return "open";
  return typeof pull.merged_at === "string" ? "merged" : "closed";
}

const failing = [
  "failure",
  "timed_out",
  "cancelled",
  "action_required",
  "startup_failure",
  "error",
];

/** Whether a conclusion of a check means that it failed. */
export function isFailing(conclusion: string | null): boolean {
  return conclusion !== null && failing.includes(conclusion);
}

/** One word for all checks of a commit. */
export function conclusionOf(checks: readonly Check[]): Checks["conclusion"] {
  if (checks.length === 0) return null;
  if (checks.some(({ conclusion }) => isFailing(conclusion))) return "failure";
  return checks.some(({ status }) => status !== "completed") ? "pending" : "success";
}

// CSI and OSC sequences (ECMA-48), then what is left of other escapes.
const escapes = new RegExp(
  String.raw`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]`,
  "g",
);
// What a terminal or a reader has no use for; tabs and newlines stay.
const controls = new RegExp(String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]`, "g");

/** The last `lines` lines of a log, without escape sequences and other control characters. */
export function logTail(log: string, lines: number): string {
  const plain = log.replace(/^\ufeff/, "").replaceAll("\r\n", "\n").replace(escapes, "")
    .replace(controls, "");
  return plain.replace(/\n+$/, "").split("\n").slice(-lines).join("\n");
}
