/**
 * The whole life of an issue: a real bridge, a real ship with git and tmux, and the test forge. Everything a
 * person does goes through the command line, everything an agent does through MCP and git.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startBridge } from "../../bridge/bridge.ts";
import { readBridgeConfig } from "../../bridge/config.ts";
import { silentLog } from "../../shared/log.ts";
import { openKv } from "../support/auth_support.ts";
import { cli } from "../support/cli_support.ts";
import { TestForge } from "../support/forge/forge.ts";
import { exists, git, gitPath, timeoutPath } from "../support/grid_support.ts";
import { until } from "../support/listen_support.ts";
import { McpAgent } from "../support/mcp_support.ts";
import { type RunningShip, runningShip } from "../support/running_ship.ts";

interface Stage extends AsyncDisposable {
  readonly forge: TestForge;
  readonly ship: RunningShip;
  /** `grid <line>`, which must succeed; its standard output. */
  grid(line: string): Promise<string>;
}

async function stage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const forge = stack.use(await TestForge.start());
  const dataDirectory = await Deno.makeTempDir({ prefix: "grid-bridge-" });
  stack.defer(() => Deno.remove(dataDirectory, { recursive: true }));
  const ship = stack.use(
    await runningShip("ark", {
      bridgeToken: "the-bridges-own",
      // What an agent's harness would find in its environment.
      sessionCommand:
        'env > "$HOME/session.tmp"; mv "$HOME/session.tmp" "$HOME/session"; sleep 600',
    }),
  );
  const config = readBridgeConfig([
    "--port=0",
    `--data-dir=${dataDirectory}`,
    "--insecure-no-auth",
  ]);
  const bridge = stack.use(
    await startBridge({ ...config, github: forge.github }, {
      programs: { git: gitPath, timeout: timeoutPath },
      openKv,
      log: silentLog,
      tell: () => {},
      terminal: null,
    }),
  );
  const response = await fetch(`${bridge.url}/ships`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: ship.url, bridgeToken: "the-bridges-own", shipToken: "s" }),
  });
  const answer = await response.text();
  assert.equal(response.status, 201, answer);
  const grid = async (line: string) => {
    const { code, out, err } = await cli(line.split(" "), { url: bridge.url });
    assert.equal(code, 0, `grid ${line}: ${out}${err}`);
    return out;
  };
  await grid(`repo add web ${forge.cloneUrl} --provider github`);
  const owned = stack.move();
  return { forge, ship, grid, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The agent of the active workspace, with the URL and token of its session. */
async function agentOf(ship: RunningShip): Promise<McpAgent> {
  const path = join(ship.environment["HOME"] ?? "", "session");
  let text = "";
  await until("the session tells its environment", () => {
    void Deno.readTextFile(path).then((read) => text = read, () => {});
    return text !== "";
  });
  const variable = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(text)?.[1] ?? "";
  return await McpAgent.connect(variable("GRID_MCP_URL"), variable("GRID_MCP_TOKEN"));
}

const result = (text: string) => JSON.parse(text);
const nothing = { checked: 0, destroyed: 0, blocked: 0, skipped: 0, forgotten: 0 };

Deno.test("life: issue, branch, workspace, agent, push, merge, sweep", async () => {
  await using s = await stage();
  const issue = s.forge.state.openIssue("Greet the world");
  assert.match(await s.grid("issue ls web"), /#1 +open .*Greet the world/);
  const made = await s.grid("new web --issue 1 --ephemeral");
  assert.match(made, /created web\/issue-1 on ark, branch 1-greet-the-world/);
  assert.deepEqual(issue.linked, ["1-greet-the-world"]);
  assert.match(await s.grid("ls"), /web\/issue-1 +1-greet-the-world +ark +- +#1 +- +watching/);

  await s.grid("activate web/issue-1");
  await using agent = await agentOf(s.ship);
  await agent.call("agent_init", { model: "m", provider: "p", harness: "h" });
  await agent.call("agent_status", { state: "building", description: "greeting" });
  assert.match(await s.grid("ls"), /building +greeting/);
  assert.equal((await agent.call("repo_issue_view", { number: 1 })).title, "Greet the world");
  await agent.call("repo_issue_comment", { number: 1, body: "on it" });
  assert.match(await s.grid("issue show web 1"), /on it/);

  const directory = join(s.ship.gridDirectory, "web", "issue-1");
  await Deno.writeTextFile(join(directory, "GREETING"), "hello, world\n");
  await git(directory, "add", ".");
  await git(directory, "commit", "-qm", "Greet");
  await git(directory, "push", "-q", "origin", "HEAD");
  const pushed = (await git(directory, "rev-parse", "HEAD")).trim();
  assert.equal(await s.forge.state.commit("refs/heads/1-greet-the-world"), pushed);
  const pull = s.forge.state.openPull("1-greet-the-world");
  assert.equal((await agent.call("repo_pr_list", { head: "1-greet-the-world" })).pulls.length, 1);
  assert.equal((await agent.call("repo_checks")).ref, "1-greet-the-world");
  assert.match(await s.grid("checks web/issue-1"), /no checks on 1-greet-the-world/);

  assert.deepEqual(result(await s.grid("sweep --json")), { ...nothing, checked: 1 });
  assert.match(await s.grid("ls"), new RegExp(`#1 +#${pull.number} open +watching`));
  s.forge.state.close(pull, true);
  assert.deepEqual(result(await s.grid("sweep --json")), { ...nothing, checked: 1, destroyed: 1 });
  assert.ok(!await exists(directory));
  assert.match(await s.grid("ls"), /no workspaces yet/);
  s.forge.assertFaultless();
});

Deno.test("life: work that is not pushed blocks the sweep until it is", async () => {
  await using s = await stage();
  s.forge.state.openIssue("Greet the world");
  await s.grid("new web greeting --issue 1 --ephemeral");
  const directory = join(s.ship.gridDirectory, "web", "greeting");
  await Deno.writeTextFile(join(directory, "GREETING"), "hello\n");
  await git(directory, "add", ".");
  await git(directory, "commit", "-qm", "Greet");
  s.forge.state.close(s.forge.state.openPull("1-greet-the-world"), true);
  assert.deepEqual(result(await s.grid("sweep --json")), { ...nothing, checked: 1, blocked: 1 });
  assert.ok(await exists(directory));
  const shown = await s.grid("show web/greeting");
  assert.match(shown, /cleanup +blocked/);
  assert.match(shown, /blocked +workspace web\/greeting holds work that is not on a remote: /);
  assert.match(await s.grid("ls"), /merged +blocked/);
  await git(directory, "push", "-q", "origin", "HEAD");
  assert.deepEqual(result(await s.grid("sweep --json")), { ...nothing, checked: 1, destroyed: 1 });
  assert.ok(!await exists(directory));
  s.forge.assertFaultless();
});
