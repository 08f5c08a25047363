import assert from "node:assert/strict";
import { type Emit, eventStreamResponse, readEvents } from "../../shared/http/event_stream.ts";
import { fail } from "../../shared/errors.ts";
import { assertFails, FleetRig } from "../support/fleet_rig.ts";
import { until } from "../support/listen_support.ts";
import { row, ShipDouble } from "../support/ship_double.ts";

const wanted = { ship: "alpha", repoName: "r", name: "w", branch: "b" };
const made = { ...row("r/w", { branch: "b" }), ship: "alpha", ephemeral: null };

async function fleet(...ships: ShipDouble[]): Promise<FleetRig> {
  const rig = await FleetRig.start();
  for (const ship of ships) await rig.register(ship);
  await rig.repo("r", "https://example.org/r.git");
  return rig;
}

Deno.test("create: the ship gets the repo's URL, the caller the summary with ship and ephemeral", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  let got: unknown;
  alpha.script.createWorkspace = ({ body }) => {
    got = body;
    return Response.json(row("r/w", { branch: body.branch }), { status: 201 });
  };
  assert.deepEqual(await rig.ask("POST", "/workspaces", { ...wanted, branch: " b " }), {
    status: 201,
    body: made,
  });
  assert.deepEqual(got, {
    url: "https://example.org/r.git",
    repoName: "r",
    name: "w",
    branch: "b",
  });
  assert.equal(rig.fleet.ownership.ownerOf(row("r/w")), "alpha", "known before any event");
});

Deno.test("[validation] create: what is missing or mistyped is zod's 422", async () => {
  await using rig = await FleetRig.start();
  for (const key of ["ship", "repoName", "name"]) {
    const answer = await rig.ask("POST", "/workspaces", { ...wanted, [key]: undefined });
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.body.error.issues[0].path, [key]);
  }
});

/** One test of a create that is refused before its ship is asked. */
function test(name: string, change: Record<string, unknown>, error: string): void {
  Deno.test(name, async () => {
    await using alpha = await ShipDouble.start("alpha");
    await using rig = await fleet(alpha);
    assertFails(await rig.ask("POST", "/workspaces", { ...wanted, ...change }), 400, error);
    assert.equal(alpha.asked.length, 1, "the ship was not asked");
  });
}

const issue = { branch: undefined, issueNumber: 3 };
test("[invalidShipIdentifier] create", { ship: "" }, "invalid ship identifier");
test("[invalidRepoIdentifier] create", { repoName: "a/b" }, "invalid repo identifier");
test("[invalidWorkspaceIdentifier] create", { name: ".." }, "invalid workspace identifier");
test(
  "[branchAndIssue] create",
  { issueNumber: 3 },
  "give either branch or issueNumber, not both",
);
test("[branchOrIssueMissing] create", { branch: undefined }, "give a branch or an issueNumber");
test("[emptyBranch] create: blank", { branch: " \t" }, "branch must not be empty");
for (const issueNumber of [0, -1, 1.5, 2 ** 60]) {
  test(
    `[issueNumberNotPositive] create: ${issueNumber}`,
    { branch: undefined, issueNumber },
    "issueNumber must be a positive integer",
  );
}
test("[ephemeralWithoutIssue] create", { ephemeral: true }, "ephemeral needs an issueNumber");
test("[unknownRepo] create", { repoName: "none" }, "unknown repo: none");
test("[unknownShip] create", { ship: "nobody" }, "unknown ship: nobody");
test(
  "[providerUnsupported] create: from an issue of a repo without a forge",
  { ...issue, ephemeral: true },
  'provider "custom" does not support issues',
);

Deno.test("[workspaceExists] create: a name that any ship of the fleet holds", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using beta = await ShipDouble.start("beta", ["r/w"]);
  await using rig = await fleet(alpha, beta);
  const error = "workspace already exists: r/w";
  assertFails(await rig.ask("POST", "/workspaces", wanted), 409, error);
});

Deno.test("[createInProgress] create: one at a time for a name, whatever the ship", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using beta = await ShipDouble.start("beta");
  await using rig = await fleet(alpha, beta);
  const done = Promise.withResolvers<Response>();
  alpha.script.createWorkspace = () => done.promise;
  const first = rig.ask("POST", "/workspaces", wanted);
  const second = await rig.ask("POST", "/workspaces", { ...wanted, ship: "beta" });
  assertFails(second, 409, "create already in progress: r/w");
  done.resolve(Response.json({ error: "could not clone" }, { status: 500 }));
  assertFails(await first, 500, "could not clone");
  assert.equal((await rig.ask("POST", "/workspaces", { ...wanted, ship: "beta" })).status, 201);
});

Deno.test("[createIndeterminate] create: a lost answer keeps the name until the ship's next sync", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using beta = await ShipDouble.start("beta");
  await using rig = await fleet(alpha, beta);
  for (const happened of [false, true]) {
    const name = happened ? "done" : "not-done";
    alpha.script.createWorkspace = () => {
      if (happened) alpha.workspaces.set(`r/${name}`, row(`r/${name}`));
      alpha.cut();
      return alpha.hang();
    };
    const lost = await rig.ask("POST", "/workspaces", { ...wanted, name });
    assert.equal(lost.status, 503);
    assert.match(lost.body.error, /^ship "alpha" unreachable: /);
    const retry = { ...wanted, name, ship: "beta" };
    const answer = await rig.ask("POST", "/workspaces", retry);
    assert.equal(answer.status, 409);
    assert.match(answer.body.error, /outcome of an earlier create is not known yet: r\//);
    alpha.mend();
    await rig.becomes(alpha, "online");
    assert.equal((await rig.ask("POST", "/workspaces", retry)).status, happened ? 409 : 201);
  }
});

Deno.test("create: a ship that refused keeps no name", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using beta = await ShipDouble.start("beta");
  await using rig = await fleet(alpha, beta);
  alpha.script.createWorkspace = () => Response.json({ error: "no" }, { status: 409 });
  assertFails(await rig.ask("POST", "/workspaces", wanted), 409, "no");
  assert.equal((await rig.ask("POST", "/workspaces", { ...wanted, ship: "beta" })).status, 201);
});

Deno.test("[shipRemovedMeanwhile] create: the target is removed while it runs, even to return", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  for (const back of [false, true]) {
    const done = Promise.withResolvers<Response>();
    alpha.script.createWorkspace = () => done.promise;
    const answer = rig.ask("POST", "/workspaces", wanted);
    await until("the ship is asked", () => alpha.asked.at(-1)?.method === "POST");
    assert.equal((await rig.ask("DELETE", "/ships/alpha")).status, 200);
    if (back) await rig.register(alpha);
    done.resolve(Response.json(row("r/w"), { status: 201 }));
    assertFails(await answer, 409, 'ship "alpha" was removed while the request ran');
    if (!back) await rig.register(alpha);
    assert.equal(rig.fleet.ownership.ownerOf(row("r/w")), null);
  }
});

Deno.test("[shipAnswerInvalid] create: an unfit summary or another workspace frees the name", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  for (const body of [{ repoName: "r" }, row("r/other"), null]) {
    alpha.script.createWorkspace = () => Response.json(body, { status: 201 });
    const answer = await rig.ask("POST", "/workspaces", wanted);
    assert.equal(answer.status, 502);
    assert.match(answer.body.error, /^ship "alpha" answered with /);
  }
  delete alpha.script.createWorkspace;
  assert.equal((await rig.ask("POST", "/workspaces", wanted)).status, 201);
});

Deno.test("create: a client that goes away does not cancel it", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  const done = Promise.withResolvers<Response>();
  let aborted = false;
  alpha.script.createWorkspace = ({ request }) => {
    request.signal.addEventListener("abort", () => void (aborted = true));
    return done.promise;
  };
  const gone = new AbortController();
  const answer = rig.open("POST", "/workspaces", {
    body: JSON.stringify(wanted),
    signal: gone.signal,
  });
  await until("the ship is asked", () => alpha.asked.at(-1)?.method === "POST");
  gone.abort();
  done.resolve(Response.json(row("r/w", { branch: "b" }), { status: 201 }));
  assert.equal((await answer).status, 201);
  assert.equal(aborted, false);
});

async function stream(rig: FleetRig, body: unknown): Promise<[string, unknown][]> {
  const response = await rig.open("POST", "/workspaces", {
    headers: { accept: "text/event-stream" },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const events: [string, unknown][] = [];
  for await (const { event, data } of readEvents(response.body!)) {
    events.push([event, JSON.parse(data)]);
  }
  return events;
}

const half = { phase: "Receiving objects", percent: 50, done: 5, total: 10 };

Deno.test("create stream: the ship's progress passes through, the result is the bridge's", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  alpha.script.createWorkspace = ({ request }) => {
    assert.match(request.headers.get("accept") ?? "", /text\/event-stream/);
    return eventStreamResponse((emit: Emit) => {
      emit("progress", half);
      emit("progress", { not: "progress" });
      return Promise.resolve({ status: 201, body: row("r/w", { branch: "b" }) });
    });
  };
  assert.deepEqual(await stream(rig, wanted), [
    ["progress", half],
    ["result", { status: 201, body: made }],
  ]);
});

Deno.test("[passedThrough] create stream: the ship's failure is the result, and frees the name", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  alpha.script.createWorkspace = () =>
    eventStreamResponse(() => Promise.reject(fail("workspaceExists", row("r/w"))));
  const refused = { status: 409, body: { error: "workspace already exists: r/w" } };
  assert.deepEqual(await stream(rig, wanted), [["result", refused]]);
  alpha.script.createWorkspace = () => Response.json({ error: "busy" }, { status: 503 });
  assert.deepEqual(await stream(rig, wanted), [
    ["result", { status: 503, body: { error: "busy" } }],
  ]);
  delete alpha.script.createWorkspace;
  assert.deepEqual(await stream(rig, wanted), [["result", { status: 201, body: made }]]);
});

Deno.test("create stream: one that ends without a result is an unknown outcome, which a new sync settles", async () => {
  await using alpha = await ShipDouble.start("alpha");
  await using rig = await fleet(alpha);
  alpha.script.createWorkspace = () =>
    new Response("event: progress\ndata: {}\n\n", {
      headers: { "content-type": "text/event-stream" },
    });
  const generation = () => rig.fleet.link(alpha.name)?.generation ?? 0;
  const before = generation();
  const error = `ship "alpha" unreachable: the ship's answer broke off`;
  assert.deepEqual(await stream(rig, wanted), [["result", { status: 503, body: { error } }]]);
  await until("the events connection is renewed", () => generation() > before);
  delete alpha.script.createWorkspace;
  assert.equal((await rig.ask("POST", "/workspaces", wanted)).status, 201);
});

Deno.test("create stream: a refusal before the ship is asked is a plain answer", async () => {
  await using alpha = await ShipDouble.start("alpha", ["r/w"]);
  await using rig = await fleet(alpha);
  const response = await rig.open("POST", "/workspaces", {
    headers: { accept: "text/event-stream" },
    body: JSON.stringify(wanted),
  });
  assert.equal(response.status, 409);
  assert.deepEqual(await response.json(), { error: "workspace already exists: r/w" });
});

Deno.test("event stream: slow clients get the newest progress, and leaving does not end the work", async () => {
  let finished = false;
  const response = eventStreamResponse(async (emit) => {
    for (let step = 0; step < 1000; step += 1) emit("progress", { step });
    await Promise.resolve();
    finished = true;
    return { status: 200, body: "done" };
  });
  const events = [];
  for await (const event of readEvents(response.body!)) events.push(event);
  assert.ok(events.length < 10, `${events.length} events`);
  assert.deepEqual(JSON.parse(events.at(-1)!.data), { status: 200, body: "done" });
  finished = false;
  const left = eventStreamResponse(async (emit) => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    emit("progress", {});
    finished = true;
    return { status: 200, body: null };
  });
  await left.body!.cancel();
  await until("the work is done", () => finished);
});
