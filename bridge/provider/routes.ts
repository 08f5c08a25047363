/** The routes below `/repos/:name` that a repo's forge answers: a line per endpoint. */
import type { ForgeApi } from "../../shared/api/forge_api.ts";
import type { Handlers } from "../../shared/http/router.ts";
import type { RepoName } from "../../shared/ids.ts";
import type { RepoDetails } from "../../shared/schema/forge.ts";
import type { Repo } from "../../shared/schema/repo.ts";
import type { CheckTarget } from "./provider.ts";
import type { Providers } from "./providers.ts";

export interface ForgeRouteDeps {
  readonly providers: Providers;
  /** The repo as registered. Throws `repoNotFound`. */
  readonly repo: (name: RepoName) => Repo;
  /** The repo as it may be shown. */
  readonly shown: (repo: Repo) => Repo;
}

export function forgeHandlers<Principal>(deps: ForgeRouteDeps): Handlers<ForgeApi, Principal> {
  const open = ({ name }: { readonly name: RepoName }, what: string) =>
    deps.providers.open(deps.repo(name), what);
  return {
    getRepo: ({ params, request }) => details(deps, deps.repo(params.name), request.signal),
    listIssues: ({ params, query, request }) =>
      open(params, "issues").issues(query, request.signal),
    getIssue: ({ params, request }) => open(params, "issues").issue(params.number, request.signal),
    commentIssue: ({ params, body }) =>
      open(params, "issues").commentIssue(params.number, body.body),
    listPulls: ({ params, query, request }) =>
      open(params, "pull requests").pulls(query, request.signal),
    getPull: ({ params, request }) =>
      open(params, "pull requests").pull(params.number, request.signal),
    commentPull: ({ params, body }) =>
      open(params, "pull requests").commentPull(params.number, body.body),
    reviewPull: ({ params, body }) => open(params, "pull requests").reviewPull(params.number, body),
    getChecks: ({ params, query, request }) =>
      open(params, "checks").checks(targetOf(query), request.signal),
    getFailedLogs: ({ params, query, request }) =>
      open(params, "checks").failedLogs(targetOf(query), query.tail, request.signal),
  };
}

/** A repo whose provider can tell nothing is shown all the same. */
async function details(
  { providers, shown }: ForgeRouteDeps,
  repo: Repo,
  signal: AbortSignal,
): Promise<RepoDetails> {
  const unknown = { defaultBranch: null, webUrl: null, description: null, private: null };
  const facts = providers.has(repo) ? await providers.open(repo, "repos").facts(signal) : unknown;
  return { ...shown(repo), ...facts };
}

/** The schema has seen to it that exactly one is given. */
function targetOf(
  { ref, pull }: { readonly ref?: string | undefined; readonly pull?: number | undefined },
): CheckTarget {
  if (ref !== undefined) return { ref };
  if (pull !== undefined) return { pull };
  throw new Error("neither ref nor pull");
}
