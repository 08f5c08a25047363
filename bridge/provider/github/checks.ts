/** Checks of a commit: check runs, commit statuses of older integrations, and the logs of failed jobs. */
import { fail, Failure, relayed } from "../../../shared/errors.ts";
import { limits } from "../../../shared/limits.ts";
import type { Check, Checks, FailedLog } from "../../../shared/schema/forge.ts";
import type { CheckTarget } from "../provider.ts";
import type { GitHubTarget } from "./connection.ts";
import { conclusionOf, isFailing, logTail } from "./parse.ts";

const pageSize = limits.forgeListMax;

export async function checksOf(
  target: GitHubTarget,
  which: CheckTarget,
  signal?: AbortSignal,
): Promise<Checks> {
  const ref = await refOf(target, which, signal);
  const [runs, statuses] = await Promise.all([
    checkRuns(target, ref, signal),
    commitStatuses(target, ref, signal),
  ]);
  const checks = [...runs.map(({ check }) => check), ...statuses];
  return { ref, conclusion: conclusionOf(checks), checks };
}

/** Of each failed job of GitHub Actions; other integrations keep their logs to themselves. */
export async function failedLogsOf(
  target: GitHubTarget,
  which: CheckTarget,
  { tail, signal }: { readonly tail: number; readonly signal: AbortSignal | undefined },
): Promise<FailedLog[]> {
  const ref = await refOf(target, which, signal);
  const failed = (await checkRuns(target, ref, signal))
    .filter(({ check, isJob }) => isJob && isFailing(check.conclusion))
    .slice(0, limits.forgeLogJobsMax);
  return await Promise.all(failed.map(async ({ id, check: { name, url } }) => {
    const log = await jobLog(target, id, signal);
    return { name, url, log: logTail(log, tail) };
  }));
}

async function refOf(
  { owner, repo, connection }: GitHubTarget,
  which: CheckTarget,
  signal: AbortSignal | undefined,
): Promise<string> {
  if ("ref" in which) return which.ref;
  return await connection.ask(async (octokit, request) => {
    const { data } = await octokit.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", {
      owner,
      repo,
      pull_number: which.pull,
      request,
    });
    return data.head.sha;
  }, { signal });
}

interface CheckRun {
  /** Of a job of GitHub Actions, also the job's. */
  readonly id: number;
  readonly isJob: boolean;
  readonly check: Check;
}

async function checkRuns(
  { owner, repo, connection }: GitHubTarget,
  ref: string,
  signal: AbortSignal | undefined,
): Promise<CheckRun[]> {
  return await connection.ask(async (octokit, request) => {
    const { data } = await octokit.request("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", {
      owner,
      repo,
      ref,
      filter: "latest",
      per_page: pageSize,
      request,
    });
    return data.check_runs.map((run) => ({
      id: Number(run.id),
      isJob: run.app?.slug === "github-actions",
      check: {
        name: run.name,
        status: run.status,
        conclusion: run.conclusion,
        startedAt: run.started_at,
        completedAt: run.completed_at,
        url: run.html_url ?? run.details_url,
      },
    }));
  }, { signal }).catch((thrown: unknown) => {
    throw unpushed(thrown, ref);
  });
}

/** GitHub's "No commit found for SHA" is what an agent meets before its first push. */
function unpushed(thrown: unknown, ref: string): unknown {
  const missing = thrown instanceof Failure && thrown.status === 422 &&
    /no commit found/i.test(thrown.message);
  return missing ? relayed(404, `github has no "${ref}": push the branch first`) : thrown;
}

async function commitStatuses(
  { owner, repo, connection }: GitHubTarget,
  ref: string,
  signal: AbortSignal | undefined,
): Promise<Check[]> {
  return await connection.ask(async (octokit, request) => {
    const { data } = await octokit.request("GET /repos/{owner}/{repo}/commits/{ref}/status", {
      owner,
      repo,
      ref,
      per_page: pageSize,
      request,
    });
    return data.statuses.map((status) => ({
      name: status.context,
      status: status.state === "pending" ? "pending" : "completed",
      conclusion: status.state === "pending" ? null : status.state,
      startedAt: status.created_at,
      completedAt: status.state === "pending" ? null : status.updated_at,
      url: status.target_url,
    }));
  }, { signal }).catch((thrown: unknown) => {
    throw unpushed(thrown, ref);
  });
}

async function jobLog(
  { owner, repo, connection }: GitHubTarget,
  jobId: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  return await connection.ask(async (octokit, request) => {
    const { data } = await octokit.request("GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs", {
      owner,
      repo,
      job_id: jobId,
      // A log may be large: it is read below, with a bound, instead of by octokit.
      request: { ...request, parseSuccessResponseBody: false },
    });
    if (!(data instanceof ReadableStream)) {
      throw fail("providerAnswerInvalid", { provider: "github" });
    }
    return await lastText(data, limits.forgeLogBytesMax);
  }, { signal });
}

/** The end of a stream as text: at least its last `bytesMax` bytes when it has more. */
async function lastText(stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<string> {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Whole chunks are dropped from the front, so that what is kept stays within two bounds' worth.
    while (chunks.length > 1 && bytes - (chunks[0]?.length ?? 0) >= bytesMax) {
      bytes -= chunks[0]?.length ?? 0;
      chunks = chunks.slice(1);
    }
  }
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}
