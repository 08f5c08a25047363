/** What `git ls-remote` answers, read (hardening 3: refs are compared exactly). Pure. */

export interface RemoteRef {
  readonly name: string;
  readonly oid: string;
}

/** A remote's refs, without the peeled (`^{}`) ones. */
export interface RemoteRefs {
  readonly refs: readonly RemoteRef[];
  /** The branch that HEAD points at (`refs/heads/…`), when the remote tells and HEAD has a commit. */
  readonly headBranch: string | null;
  /** True when HEAD names a commit. */
  readonly hasHead: boolean;
}

const refLine = /^([0-9a-f]{40}|[0-9a-f]{64})\t(\S+)$/;
const symrefLine = /^ref: (refs\/heads\/\S+)\tHEAD$/;

/**
 * Reads the output of `ls-remote --symref`, for example
 * `ref: refs/heads/main\tHEAD`, `<oid>\tHEAD`, `<oid>\trefs/heads/main`. Other lines are skipped: a
 * remote can send what it likes.
 */
export function parseRemoteRefs(output: string): RemoteRefs {
  const refs: RemoteRef[] = [];
  let headBranch: string | null = null;
  let hasHead = false;
  for (const line of output.split("\n")) {
    headBranch = symrefLine.exec(line)?.[1] ?? headBranch;
    const [, oid, name] = refLine.exec(line) ?? [];
    if (oid === undefined || name === undefined || name.endsWith("^{}")) continue;
    if (name === "HEAD") hasHead = true;
    else refs.push({ name, oid });
  }
  return { refs, headBranch: hasHead ? headBranch : null, hasHead };
}

const headsPrefix = "refs/heads/";

/** The branches among `refs`: prefix stripped, sorted by name (code units). */
export function remoteBranches(
  { refs }: RemoteRefs,
): readonly { readonly name: string; readonly sha: string }[] {
  return refs
    .filter(({ name }) => name.startsWith(headsPrefix))
    .map(({ name, oid }) => ({ name: name.slice(headsPrefix.length), sha: oid }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** What a remote has under exactly this name; a branch goes before a tag, as with `clone --branch`. */
export function remoteKindOf({ refs }: RemoteRefs, name: string): "branch" | "tag" | null {
  if (refs.some((ref) => ref.name === `${headsPrefix}${name}`)) return "branch";
  if (refs.some((ref) => ref.name === `refs/tags/${name}`)) return "tag";
  return null;
}
