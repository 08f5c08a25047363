/** The REST half of the test forge. What it answers is made from the published schemas and judged by them. */
import { openApi } from "./openapi.ts";
import {
  at,
  type ForgeComment,
  type ForgeIssue,
  type ForgePull,
  type ForgeState,
} from "./state.ts";

export interface RestCall {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  // deno-lint-ignore no-explicit-any -- judged by the description already
  readonly body: any;
  readonly webUrl: string;
}

export interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Of a 302. */
  readonly location?: string;
}

const answer = (status: number, body: unknown): RestAnswer => ({ status, body });
const notFound = answer(404, { message: "Not Found", documentation_url: "https://docs.example" });
const sample = (schema: string, given: Record<string, unknown>) => openApi().sample(schema, given);
const user = (login: string) => sample("simple-user", { login });

/** Answers one operation; its handlers are named by `METHOD path`. */
export async function answerRest(state: ForgeState, call: RestCall): Promise<RestAnswer> {
  const { owner, repo } = call.parameters;
  if (owner !== state.owner || repo !== state.name) return notFound;
  const handler = handlers[call.operation];
  if (handler === undefined) throw new Error(`the test forge does not serve ${call.operation}`);
  return await handler(state, call);
}

type Handler = (state: ForgeState, call: RestCall) => RestAnswer | Promise<RestAnswer>;

const base = "/repos/{owner}/{repo}";

const handlers: Readonly<Record<string, Handler>> = {
  [`GET ${base}`]: (state, { webUrl }) =>
    answer(
      200,
      sample("full-repository", {
        name: state.name,
        full_name: `${state.owner}/${state.name}`,
        default_branch: "main",
        html_url: `${webUrl}/${state.owner}/${state.name}`,
        description: "a repository for tests",
        private: true,
      }),
    ),
  [`GET ${base}/issues`]: (state, { query, webUrl }) => {
    const wanted = query.get("state") ?? "open";
    const labels = (query.get("labels") ?? "").split(",").filter((one) => one !== "");
    const issues = [...state.issues.values()].filter((issue) =>
      (wanted === "all" || issue.state === wanted) &&
      labels.every((label) => issue.labels.includes(label))
    ).map((issue) => restIssue(state, issue, webUrl));
    // To GitHub every pull request is an issue too.
    const pulls = [...state.pulls.values()].filter(({ state }) =>
      wanted === "all" || state === wanted
    ).map((pull) => ({
      ...restIssue(state, { ...pull, labels: [] }, webUrl),
      pull_request: { url: webUrl, html_url: webUrl, diff_url: webUrl, patch_url: webUrl },
    }));
    const rows = labels.length > 0 ? issues : [...issues, ...pulls];
    return answer(200, page(rows.sort((a, b) => b.number - a.number), query));
  },
  [`POST ${base}/issues/{issue_number}/comments`]: (state, { parameters, body, webUrl }) => {
    const number = Number(parameters["issue_number"]);
    const place = state.issues.get(number) ?? state.pulls.get(number);
    if (place === undefined) return notFound;
    const comment = { id: state.next(), author: "grid", body: body.body };
    place.comments.push(comment);
    return answer(201, restComment(state, number, comment, webUrl));
  },
  [`GET ${base}/issues/{issue_number}/comments`]: (state, { parameters, query, webUrl }) => {
    const number = Number(parameters["issue_number"]);
    const place = state.issues.get(number) ?? state.pulls.get(number);
    if (place === undefined) return notFound;
    const rows = place.comments.map((one) => restComment(state, number, one, webUrl));
    return answer(200, page(rows, query));
  },
  [`GET ${base}/pulls`]: async (state, { query, webUrl }) => {
    const wanted = query.get("state") ?? "open";
    const head = query.get("head");
    const pulls = [...state.pulls.values()].filter((pull) =>
      (wanted === "all" || pull.state === wanted) &&
      (head === null || head === `${state.owner}:${pull.head}`)
    ).sort((a, b) => b.number - a.number);
    const rows = pulls.map((pull) => restPull(state, pull, webUrl, "pull-request-simple"));
    return answer(200, page(await Promise.all(rows), query));
  },
  [`GET ${base}/pulls/{pull_number}`]: async (state, { parameters, webUrl }) => {
    const pull = state.pulls.get(Number(parameters["pull_number"]));
    if (pull === undefined) return notFound;
    return answer(200, await restPull(state, pull, webUrl, "pull-request"));
  },
  [`GET ${base}/pulls/{pull_number}/reviews`]: (state, { parameters, query }) => {
    const pull = state.pulls.get(Number(parameters["pull_number"]));
    return pull === undefined ? notFound : answer(200, page(pull.reviews.map(restReview), query));
  },
  [`POST ${base}/pulls/{pull_number}/reviews`]: (state, { parameters, body }) => {
    const pull = state.pulls.get(Number(parameters["pull_number"]));
    if (pull === undefined) return notFound;
    const states: Record<string, string> = {
      APPROVE: "APPROVED",
      REQUEST_CHANGES: "CHANGES_REQUESTED",
      COMMENT: "COMMENTED",
    };
    const review = {
      id: state.next(),
      author: "grid",
      state: states[body.event] ?? "PENDING",
      body: body.body ?? "",
    };
    pull.reviews.push(review);
    for (const one of body.comments ?? []) {
      pull.reviewComments.push({
        id: state.next(),
        path: one.path,
        line: one.line,
        body: one.body,
      });
    }
    return answer(200, restReview(review));
  },
  [`GET ${base}/pulls/{pull_number}/comments`]: (state, { parameters, query }) => {
    const pull = state.pulls.get(Number(parameters["pull_number"]));
    if (pull === undefined) return notFound;
    const rows = pull.reviewComments.map(({ id, path, line, body }) =>
      sample("pull-request-review-comment", {
        id,
        path,
        line,
        body,
        user: user("grid"),
        created_at: at,
        updated_at: at,
      })
    );
    return answer(200, page(rows, query));
  },
  [`GET ${base}/git/matching-refs/{ref}`]: async (state, { parameters }) => {
    const refs = await state.branches(parameters["ref"] ?? "");
    const object = { type: "commit", url: "https://forge.example/" };
    return answer(
      200,
      refs.map(({ ref, sha }) => sample("git-ref", { ref, object: { ...object, sha } })),
    );
  },
  [`GET ${base}/commits/{ref}/check-runs`]: async (state, { parameters, webUrl }) => {
    const sha = await state.commit(parameters["ref"] ?? "");
    if (sha === null) return noCommit(parameters["ref"]);
    const runs = [];
    for (const run of state.checkRuns) {
      if (await state.commit(run.ref) !== sha) continue;
      runs.push(sample("check-run", {
        id: run.id,
        name: run.name,
        head_sha: sha,
        status: run.status,
        conclusion: run.conclusion,
        started_at: at,
        completed_at: run.status === "completed" ? at : null,
        html_url: `${webUrl}/${state.owner}/${state.name}/actions/runs/1/job/${run.id}`,
        app: sample("integration", { slug: run.app, name: run.app, owner: user("github") }),
      }));
    }
    return answer(200, { total_count: runs.length, check_runs: runs });
  },
  [`GET ${base}/commits/{ref}/status`]: async (state, { parameters }) => {
    const sha = await state.commit(parameters["ref"] ?? "");
    if (sha === null) return noCommit(parameters["ref"]);
    const statuses = [];
    for (const status of state.statuses) {
      if (await state.commit(status.ref) !== sha) continue;
      const { id, context, state: result } = status;
      statuses.push(
        sample("simple-commit-status", {
          id,
          context,
          state: result,
          target_url: "https://ci.example/1",
          created_at: at,
          updated_at: at,
        }),
      );
    }
    const given = { sha, statuses, total_count: statuses.length, state: "pending" };
    return answer(200, sample("combined-commit-status", given));
  },
  [`GET ${base}/actions/jobs/{job_id}/logs`]: (_state, { parameters, webUrl }) => ({
    status: 302,
    body: undefined,
    // Another origin by its name, as GitHub's log store is.
    location: `${webUrl.replace("127.0.0.1", "localhost")}/logs/${parameters["job_id"]}`,
  }),
};

const noCommit = (ref: string | undefined) =>
  answer(422, {
    message: `No commit found for SHA: ${ref}`,
    documentation_url: "https://x.example",
  });

function page<T>(rows: readonly T[], query: URLSearchParams): T[] {
  const size = Number(query.get("per_page") ?? "30");
  const first = (Number(query.get("page") ?? "1") - 1) * size;
  return rows.slice(first, first + size);
}

function restIssue(
  state: ForgeState,
  issue: Pick<ForgeIssue, "number" | "title" | "body" | "state" | "labels" | "comments">,
  webUrl: string,
) {
  return sample("issue", {
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    labels: issue.labels.map((name) => ({ name })),
    comments: issue.comments.length,
    user: user("ada"),
    created_at: at,
    updated_at: at,
    html_url: `${webUrl}/${state.owner}/${state.name}/issues/${issue.number}`,
  });
}

function restComment(state: ForgeState, number: number, comment: ForgeComment, webUrl: string) {
  const place = `${webUrl}/${state.owner}/${state.name}/issues/${number}`;
  return sample("issue-comment", {
    id: comment.id,
    body: comment.body,
    user: user(comment.author),
    created_at: at,
    updated_at: at,
    html_url: `${place}#issuecomment-${comment.id}`,
  });
}

const restReview = (review: ForgePull["reviews"][number]) =>
  sample("pull-request-review", {
    ...review,
    author: undefined,
    user: user(review.author),
    commit_id: null,
    submitted_at: at,
    html_url: `https://forge.example/reviews/${review.id}`,
  });

async function restPull(
  state: ForgeState,
  pull: ForgePull,
  webUrl: string,
  schema: "pull-request" | "pull-request-simple",
) {
  const plain = sample(schema, {});
  const sha = await state.commit(`refs/heads/${pull.head}`) ?? "0".repeat(40);
  return {
    ...plain,
    number: pull.number,
    title: pull.title,
    body: pull.body,
    state: pull.state,
    merged_at: pull.mergedAt,
    draft: false,
    user: user("grid"),
    head: { ...plain.head, ref: pull.head, sha },
    base: { ...plain.base, ref: pull.base },
    created_at: at,
    updated_at: at,
    html_url: `${webUrl}/${state.owner}/${state.name}/pull/${pull.number}`,
    ...(schema === "pull-request"
      ? { mergeable: true, additions: 3, deletions: 1, changed_files: 2 }
      : {}),
  };
}
