/** What a cleanup pass does with a record, judged from what is known of it. Pure. */
import { limits } from "../../shared/limits.ts";
import type { EphemeralWorkspace } from "../../shared/schema/ephemeral.ts";
import type { PullState } from "../provider/provider.ts";

/** Where the workspace of a record is: `unknown` while its ship cannot say. */
export type Presence = "present" | "gone" | "unknown";

/** What to do before the forge has been asked. */
export function firstStep(presence: Presence): "skip" | "forget" | "readPull" {
  switch (presence) {
    case "unknown":
      return "skip";
    case "gone":
      return "forget";
    case "present":
      return "readPull";
  }
}

export type SweepStep =
  /** The pull request is done: delete with `force=false`. `record` is what is known from now on. */
  | { readonly kind: "destroy"; readonly record: EphemeralWorkspace }
  | { readonly kind: "keep"; readonly record: EphemeralWorkspace };

/** What to do once the newest pull request of the branch is known (null: there is none). */
export function stepOf(record: EphemeralWorkspace, pull: PullState | null): SweepStep {
  const seen = { ...record, pullRequest: pull };
  switch (pull?.state) {
    case "closed":
    case "merged":
      return { kind: "destroy", record: seen };
    case "open":
    case undefined:
      return { kind: "keep", record: watching(seen) };
  }
}

const watching = (record: EphemeralWorkspace): EphemeralWorkspace => ({
  ...record,
  cleanup: "watching",
  blockedReason: null,
  blockedAt: null,
});

/** The record after the ship refused; of a record that was blocked before, `blockedAt` stays. */
export function blockedBy(
  record: EphemeralWorkspace,
  reason: string,
  at: string,
): EphemeralWorkspace {
  return {
    ...record,
    cleanup: "blocked",
    blockedReason: cut(reason, limits.blockedReasonCharactersMax),
    blockedAt: record.blockedAt ?? at,
  };
}

/** At most `charactersMax` UTF-16 units, without half a character at the end. */
function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax
    ? text
    : text.slice(0, charactersMax).replace(/[\ud800-\udbff]$/, "");
}

/** Whether two records of one workspace say the same. */
export function sameRecord(a: EphemeralWorkspace, b: EphemeralWorkspace): boolean {
  return a.cleanup === b.cleanup && a.blockedReason === b.blockedReason &&
    a.blockedAt === b.blockedAt && a.pullRequest?.number === b.pullRequest?.number &&
    a.pullRequest?.state === b.pullRequest?.state && a.pullRequest?.url === b.pullRequest?.url;
}
