/**
 * A ship's MCP endpoint before the protocol's official judges: the conformance suite, and the inspector's
 * command line, both as programs of their own.
 */
import configuration from "../deno.json" with { type: "json" };
import assert from "node:assert/strict";
import { join } from "node:path";
import { FleetRig } from "../support/fleet_rig.ts";
import { forgeToken, TestForge } from "../support/forge/forge.ts";
import { listen } from "../../shared/host/listen.ts";
import { runningShip } from "../support/running_ship.ts";

const root = new URL("../..", import.meta.url).pathname;

async function run(program: keyof typeof configuration.imports, ...args: string[]) {
  const catalog = await Deno.makeTempDir({ prefix: "mcp-" });
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      // The version is the one that tests/deno.json pins.
      args: [
        "run",
        "-A",
        "-q",
        "--cached-only",
        "--config",
        "tests/deno.json",
        configuration.imports[program],
        ...args,
      ],
      cwd: root,
      env: { MCP_CATALOG_PATH: join(catalog, "mcp.json"), NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  } finally {
    await Deno.remove(catalog, { recursive: true });
  }
}

/** What the suite asks of servers that offer more than tools, or that carry the suite's own sample tools. */
const notApplicable: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^logging-|-with-logging$/, "the server declares no logging"],
  [/^completion-/, "the server declares no completions"],
  [/^resources-/, "the server declares no resources"],
  [/^prompts-/, "the server declares no prompts"],
  [/elicitation/, "no tool asks the client anything"],
  [/-sampling$/, "no tool asks the client's model"],
  [/^tools-call-(image|audio|embedded-resource|mixed-content|with-progress)$/, "sample tools"],
  [/^json-schema-2020-12$/, "a sample tool with a schema of its own"],
  [/^server-sse-polling$/, "a sample tool that drops its stream; a stateless server has none"],
];

async function workspaceOf(ship: { readonly url: string }, forge: TestForge): Promise<string> {
  const response = await fetch(`${ship.url}/workspaces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: forge.cloneUrl, repoName: "web", name: "w", branch: "main" }),
  });
  assert.equal(response.status, 201, await response.text());
  return `${ship.url}/workspaces/web/w/mcp`;
}

Deno.test("mcp: the official conformance suite passes wherever it speaks of a tools-only server", async () => {
  await using forge = await TestForge.start();
  await using ship = await runningShip("ark");
  const url = await workspaceOf(ship, forge);
  const { out, err } = await run(
    "@modelcontextprotocol/conformance",
    ...["server", "--url", url, "--suite", "all"],
  );
  const summary = [...out.matchAll(/^(✓|✗) ([a-z0-9-]+): (\d+) passed, (\d+) failed$/gm)];
  const named = (mark: string) =>
    summary.filter(([, one]) => one === mark).map(([, , name]) => name);
  const passed = named("✓");
  for (
    const name of [
      "server-initialize",
      "ping",
      "tools-list",
      "tools-call-simple-text",
      "tools-call-error",
      "server-sse-multiple-streams",
      "dns-rebinding-protection",
    ]
  ) assert.ok(passed.includes(name), `${name}: ${out.slice(-2_000)}${err}`);
  const failed = named("✗").filter((name) =>
    !notApplicable.some(([pattern]) => pattern.test(name ?? ""))
  );
  assert.deepEqual(failed, []);
});

Deno.test("mcp: the official inspector lists and calls every tool", async () => {
  await using forge = await TestForge.start();
  await using ship = await runningShip("ark");
  await using rig = await FleetRig.start({ github: { ...forge.github, token: forgeToken } });
  await rig.repo("web", forge.cloneUrl, "github");
  const listener = await listen({ hostname: "127.0.0.1", port: 0, fetch: rig.fetch });
  await using _listening = { [Symbol.asyncDispose]: () => listener.shutdown() };
  const url = await workspaceOf(ship, forge);
  for (
    const [path, body] of [
      ["/agent/credentials", { bridgeUrl: listener.url, token: "t" }],
      ["/workspaces/web/w/activate", undefined],
    ] as const
  ) {
    const response = await fetch(ship.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    assert.equal(response.status, 200, await response.text());
  }
  const issue = String(forge.state.openIssue("one").number);
  const pull = String(forge.state.openPull("main").number);
  const inspect = async (...args: string[]) => {
    const all = ["--cli", url, "--transport", "http", ...args];
    const { code, out, err } = await run("@modelcontextprotocol/inspector", ...all);
    assert.equal(code, 0, `${args.join(" ")}: ${out}${err}`);
    return JSON.parse(out);
  };
  const calls: Readonly<Record<string, readonly string[]>> = {
    agent_init: ["model=m", "provider=p", "harness=h"],
    agent_status: ["state=building", "description=at it"],
    agent_status_get: [],
    repo_info: [],
    repo_issue_list: ["limit=5"],
    repo_issue_view: [`number=${issue}`],
    repo_issue_comment: [`number=${issue}`, "body=hello"],
    repo_pr_list: ["state=all"],
    repo_pr_view: [`number=${pull}`],
    repo_pr_comment: [`number=${pull}`, "body=hello"],
    repo_pr_review: [`number=${pull}`, "event=approve", "body=good"],
    repo_checks: [],
    repo_failed_logs: ["tail=5"],
  };
  const { tools } = await inspect("--method", "tools/list");
  assert.deepEqual(
    tools.map(({ name }: { name: string }) => name).sort(),
    Object.keys(calls).sort(),
  );
  for (const [name, given] of Object.entries(calls)) {
    const result = await inspect(
      ...["--method", "tools/call", "--tool-name", name],
      ...given.flatMap((pair) => ["--tool-arg", pair]),
    );
    assert.notEqual(result.isError, true, `${name}: ${JSON.stringify(result)}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  }
  forge.assertFaultless();
});
