/** A workspace's diff as text, streamed and capped; and the figures of an active one. */
import { fail, messageOf } from "../../shared/errors.ts";
import { reasonOf } from "../../shared/git/remote.ts";
import { limits } from "../../shared/limits.ts";
import type { DiffQuery } from "../../shared/schema/query.ts";
import type { WorkspaceDiff } from "../../shared/schema/workspace.ts";
import { neutralDiffFlags } from "../git/neutral.ts";
import { parseNumstat } from "../git/parse.ts";
import type { WorkingCopy } from "../git/working_copy.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const diffMs = 5 * 60_000;
const figuresMs = 30_000;

export interface DiffRequest {
  readonly copy: WorkingCopy;
  readonly query: DiffQuery;
  readonly signal?: AbortSignal;
  /** An unused path for a second index, which is removed again. */
  readonly indexFile: () => Promise<string>;
}

/**
 * The diff that `query` asks for. Rejects with `badRange` before the first byte when git refuses; ends
 * with a line that says so when it is longer than `limits.diffBytesMax`; ends git when the reader leaves.
 */
export async function diffText(request: DiffRequest): Promise<ReadableStream<Bytes>> {
  const paths = request.query.paths ?? [];
  const wrong = brokenRange(request.query.range) ?? brokenPath(paths);
  if (wrong !== null) throw fail("badRange", { reason: wrong });
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(request.signal ? [request.signal] : [])]);
  const pieces = capped(diffPieces({ ...request, signal }));
  const first = await pieces.next();
  let pending: IteratorResult<Bytes> | null = first;
  return new ReadableStream<Bytes>({
    async pull(controller) {
      const result = pending ?? await pieces.next();
      pending = null;
      if (result.done) controller.close();
      else controller.enqueue(result.value);
    },
    async cancel() {
      stop.abort();
      await pieces.return(undefined);
    },
  }, { highWaterMark: 0 });
}

function brokenRange(range: string | undefined): string | null {
  if (range === undefined) return null;
  if (range.trim() === "") return "the range must not be empty";
  if (range.startsWith("-")) return "the range must not begin with a dash";
  // deno-lint-ignore no-control-regex -- a NUL cannot stand in an argument at all
  return /[\u0000-\u0020\u007f]/.test(range) ? "the range must not contain white space" : null;
}

/** Two paths outside the working tree would make `git diff` compare any two files of the host. */
function brokenPath(paths: readonly string[]): string | null {
  const wrong = paths.find((path) =>
    path === "" || path.startsWith("/") || path.includes("\0") || path.split("/").includes("..")
  );
  return wrong === undefined ? null : "paths must be relative to the workspace and stay in it";
}

async function* diffPieces(request: DiffRequest): AsyncGenerator<Bytes> {
  const { copy, query, signal } = request;
  const paths = query.paths ?? [];
  const flags = [
    ...neutralDiffFlags,
    ...(query.stat ? ["--stat"] : []),
    ...(query.nameOnly ? ["--name-only"] : []),
  ];
  const staged = query.staged ? ["--cached"] : [];
  const range = query.range === undefined ? [] : [query.range];
  yield* output(copy, ["diff", ...flags, ...staged, ...range, "--", ...paths], { signal });
  if (query.includeUntracked) yield* untracked(request, flags);
}

/**
 * Untracked files, entered into an index of their own that holds nothing else: one `git diff` then shows
 * them all as added, with the same flags, and the clone's index stays as it is.
 */
async function* untracked(request: DiffRequest, flags: readonly string[]): AsyncGenerator<Bytes> {
  const { copy, query, signal } = request;
  const listed = await copy.read(
    ["ls-files", "--others", "--exclude-standard", "-z", "--", ...(query.paths ?? [])],
    { timeoutMs: diffMs, signal },
  );
  // `nested/` is another repository, which is not entered.
  const files = listed.split("\0").filter((path) => path !== "" && !path.endsWith("/"));
  if (files.length === 0) return;
  const indexFile = await request.indexFile();
  try {
    await copy.read(
      ["add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"],
      { timeoutMs: diffMs, signal, indexFile, stdin: files.join("\0") },
    );
    yield* output(copy, ["diff", ...flags, "--"], { signal, indexFile });
  } finally {
    await Deno.remove(indexFile).catch(() => {});
  }
}

async function* output(
  copy: WorkingCopy,
  args: readonly string[],
  options: { readonly signal?: AbortSignal; readonly indexFile?: string },
): AsyncGenerator<Bytes> {
  const running = await copy.start(args, { ...options, timeoutMs: diffMs });
  let whole = false;
  try {
    for await (const chunk of running.stdout) yield chunk;
    whole = true;
  } finally {
    // The reader left early: git must end, and its permit be free, before anything else starts.
    if (!whole) running.stop();
    await running.done;
  }
  const { ending, code, stderr } = await running.done;
  options.signal?.throwIfAborted();
  if (ending === "timeout") throw fail("badRange", { reason: "git took too long" });
  if (code !== 0) throw fail("badRange", { reason: reasonOf(stderr) });
}

/** `pieces` up to the bound, then one line that says what is missing; a late failure is told likewise. */
async function* capped(pieces: AsyncGenerator<Bytes>): AsyncGenerator<Bytes, void, undefined> {
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      const room = limits.diffBytesMax - bytes;
      bytes += piece.length;
      if (bytes <= limits.diffBytesMax) {
        yield piece;
        continue;
      }
      yield piece.subarray(0, room);
      yield line(`diff truncated: it is longer than ${limits.diffBytesMax} bytes`);
      return;
    }
  } catch (thrown) {
    if (bytes === 0) throw thrown;
    yield line(`diff incomplete: ${messageOf(thrown)}`);
  }
}

const line = (text: string): Bytes => new TextEncoder().encode(`\n[${text}]\n`);

/** Lines changed against HEAD, and commits ahead of the upstream (0 without one). */
export async function diffFigures(copy: WorkingCopy): Promise<WorkspaceDiff> {
  const [lines, commits] = await Promise.all([changedLines(copy), commitsAhead(copy)]);
  return { ...lines, commits };
}

async function changedLines(copy: WorkingCopy) {
  const numstat = ["diff", ...neutralDiffFlags, "--numstat", "-z"];
  const againstHead = await copy.call([...numstat, "HEAD", "--"], { timeoutMs: figuresMs });
  if (againstHead.ok) return parseNumstat(againstHead.stdout);
  // An unborn branch has no HEAD to compare with: what is staged counts, and what changed since.
  const staged = await copy.read([...numstat, "--cached", "--"], { timeoutMs: figuresMs });
  const changed = await copy.read([...numstat, "--"], { timeoutMs: figuresMs });
  return parseNumstat(`${staged}\0${changed}`);
}

async function commitsAhead(copy: WorkingCopy): Promise<number> {
  const ahead = await copy.call(["rev-list", "--count", "@{upstream}..HEAD", "--"], {
    timeoutMs: figuresMs,
  });
  return ahead.ok ? Number(ahead.stdout) : 0;
}
