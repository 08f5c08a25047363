/** How the GitHub provider fails: GitHub's status and words passed on, limits honoured, nothing leaked. */
import assert from "node:assert/strict";
import { ManualClock } from "../../shared/clock.ts";
import { Failure } from "../../shared/errors.ts";
import { GitHubProvider } from "../../bridge/provider/github/github.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import { failureOf } from "../support/grid_support.ts";
import { forgeToken, TestForge } from "../support/forge/forge.ts";

const issues = { state: "open", label: [], limit: 30 } as const;

function open(forge: TestForge, given: { clock?: ManualClock; callMs?: number } = {}) {
  const { clock = new ManualClock(), ...rest } = given;
  const provider = new GitHubProvider({ ...forge.github, clock, ...rest });
  const repo = provider.open({
    name: parseIdentifier("repo", "web"),
    url: forge.cloneUrl,
    provider: "github",
  });
  return { repo, clock };
}

const relayedFailure = async (work: () => Promise<unknown>): Promise<Failure> => {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === "relayed") return thrown;
    throw thrown;
  }
  throw new Error("should have failed");
};

Deno.test("forge: GitHub's status and message are passed on, the token never", async () => {
  await using forge = await TestForge.start();
  const { repo } = open(forge);
  forge.override = () =>
    Response.json({ message: `no to ${forgeToken} at https://x:y@h/?t=1` }, { status: 403 });
  const failure = await relayedFailure(() => repo.issues({ ...issues, label: [] }));
  assert.equal(failure.status, 403);
  assert.match(failure.message, /^github: no to \*\*\* at https:\/\/h\//);
  assert.ok(!JSON.stringify(failure.message).includes(forgeToken));
});

Deno.test("[providerRateLimited] forge: Retry-After is passed on and kept to", async () => {
  await using forge = await TestForge.start();
  const { repo, clock } = open(forge);
  const message = "You have exceeded a secondary rate limit";
  forge.override = () =>
    Response.json({ message }, { status: 403, headers: { "retry-after": "30" } });
  const first = await relayedFailure(() => repo.facts());
  assert.deepEqual([first.status, first.retryAfterSeconds], [403, 30]);
  forge.override = null;
  clock.advance(10_000);
  const held = await failureOf("providerRateLimited", () => repo.facts());
  assert.deepEqual([held.status, held.retryAfterSeconds], [429, 20]);
  assert.equal(forge.requests.length, 1, "nothing is sent meanwhile");
  clock.advance(20_000);
  assert.equal((await repo.facts()).defaultBranch, "main");
});

Deno.test("[providerRateLimited] forge: an exhausted limit holds until its reset, over GraphQL too", async () => {
  await using forge = await TestForge.start();
  const { repo, clock } = open(forge);
  const reset = String(clock.now().getTime() / 1000 + 120);
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
  forge.override = () =>
    Response.json({ message: "API rate limit exceeded" }, { status: 403, headers });
  assert.equal((await relayedFailure(() => repo.facts())).retryAfterSeconds, 120);
  clock.advance(120_000);
  const errors = [{ type: "RATE_LIMITED", message: "API rate limit exceeded" }];
  forge.override = () => Response.json({ data: null, errors });
  const graphql = await relayedFailure(() => repo.issue(1));
  assert.deepEqual([graphql.status, graphql.retryAfterSeconds], [429, 60]);
  await failureOf("providerRateLimited", () => repo.facts());
});

Deno.test("[providerUnreachable] forge: silence is bounded, and nobody there is told", async () => {
  await using forge = await TestForge.start();
  const { repo } = open(forge, { callMs: 200 });
  const silence = Promise.withResolvers<Response>();
  forge.override = () => silence.promise;
  const failure = await failureOf("providerUnreachable", () => repo.facts());
  assert.equal(failure.status, 502);
  assert.match(failure.message, /timed out$/);
  silence.resolve(new Response(null, { status: 204 }));
  const nowhere = new GitHubProvider({
    token: forgeToken,
    apiUrl: "http://127.0.0.1:1",
    clock: new ManualClock(),
  });
  const gone = nowhere.open({
    name: parseIdentifier("repo", "web"),
    url: forge.cloneUrl,
    provider: "github",
  });
  await failureOf("providerUnreachable", () => gone.facts());
});

Deno.test("[providerAnswerInvalid] forge: an answer of another shape is a 502", async () => {
  await using forge = await TestForge.start();
  const { repo } = open(forge);
  forge.override = () => Response.json({ data: { repository: 5 } });
  assert.equal((await failureOf("providerAnswerInvalid", () => repo.issue(1))).status, 502);
  forge.override = () => Response.json({ rows: 1 });
  await failureOf("providerAnswerInvalid", () => repo.issues({ ...issues, label: [] }));
});

Deno.test("forge: a caller who leaves ends the request", async () => {
  await using forge = await TestForge.start();
  const { repo } = open(forge);
  const silence = Promise.withResolvers<Response>();
  forge.override = () => silence.promise;
  const leaving = new AbortController();
  const asked = repo.facts(leaving.signal);
  leaving.abort(new Error("left"));
  await assert.rejects(asked, /left/);
  silence.resolve(new Response(null, { status: 204 }));
});

Deno.test("forge: a read that GitHub could not answer is repeated once, a write never", async () => {
  await using forge = await TestForge.start();
  const { repo, clock } = open(forge);
  forge.state.openIssue("one");
  let failures = 0;
  forge.override = () =>
    failures++ === 0 ? Response.json({ message: "oops" }, { status: 502 }) : null;
  const facts = repo.facts();
  // The pause begins once the first answer has come; advancing a clock nobody waits on does nothing.
  while (failures < 2) {
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal((await facts).defaultBranch, "main");
  failures = 0;
  const failure = await relayedFailure(() => repo.commentIssue(1, "once"));
  assert.equal(failure.status, 502);
  assert.equal(failures, 1);
  assert.deepEqual(forge.state.issues.get(1)?.comments, []);
});

Deno.test("forge: the sweep's question is conditional", async () => {
  await using forge = await TestForge.start();
  const { repo } = open(forge);
  assert.equal(await repo.newestPull("feat"), null);
  assert.equal(await repo.newestPull("feat"), null);
  const older = forge.state.openPull("feat");
  const newer = forge.state.openPull("feat");
  forge.state.close(older, true);
  const seen = async () => (await repo.newestPull("feat"))?.state;
  assert.equal(await seen(), "open");
  assert.equal(await seen(), "open");
  forge.state.close(newer, false);
  assert.equal(await seen(), "closed");
  forge.state.close(newer, true);
  assert.equal(await seen(), "merged");
  assert.deepEqual(forge.requests.map(({ status }) => status), [200, 304, 200, 304, 200, 200]);
  forge.assertFaultless();
});
