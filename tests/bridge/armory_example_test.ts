import assert from "node:assert/strict";
import { Armory } from "../../bridge/armory/serve.ts";
import { systemClock } from "../../shared/clock.ts";
import { silentLog } from "../../shared/log.ts";
import { agentStates } from "../../shared/schema/agent.ts";

const directory = new URL("../../docs/examples/armory", import.meta.url).pathname;
const armory = new Armory({ directory, clock: systemClock, log: silentLog });
const read = async (path: string) => (await armory.file(path)).contents;

Deno.test("the example armory is one: every dotfile is mapped, every mapping has its file", async () => {
  const { entries, dotfileMap } = await armory.manifest();
  const of = (section: string) =>
    entries.filter((entry) => entry.section === section).map(({ path }) => path);
  assert.deepEqual(of("skills"), ["skills/grid-workspace/SKILL.md"]);
  assert.equal(of("plugins").length, 2);
  assert.deepEqual(of("dotfiles"), Object.keys(dotfileMap).map((key) => `dotfiles/${key}`).sort());
});

Deno.test("the example's files say what their readers need", async () => {
  const skill = await read("skills/grid-workspace/SKILL.md");
  assert.match(skill, /^---\nname: grid-workspace\ndescription: .+\n---\n/);
  for (const word of [...agentStates, "agent_init", "agent_status", "agent_status_get"]) {
    assert.ok(skill.includes(`\`${word}\``), word);
  }
  const claude = JSON.parse(await read("dotfiles/grid/claude-mcp.json"));
  assert.deepEqual(claude.mcpServers.grid, {
    type: "http",
    url: "${GRID_MCP_URL}",
    headers: { Authorization: "Bearer ${GRID_MCP_TOKEN}" },
  });
  assert.equal(JSON.parse(await read("dotfiles/grid/opencode.json")).mcp.grid.type, "remote");
  JSON.parse(await read("plugins/grid-status/.claude-plugin/plugin.json"));
});

/** Runs the example's shell functions with harnesses that print how they were started. */
async function start(harness: string, environment: Record<string, string>): Promise<string> {
  const script = `
    claude() { echo claude "$@"; }
    codex() { echo codex "$@"; }
    opencode() { echo opencode "$OPENCODE_CONFIG" "$@"; }
    . "$1"; ${harness} --flag "two words"`;
  const { stdout, code } = await new Deno.Command("/bin/sh", {
    args: ["-euc", script, "sh", `${directory}/dotfiles/grid/harness.sh`],
    clearEnv: true,
    env: { HOME: "/home/ada", OPENCODE_CONFIG: "", ...environment },
  }).output();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("the example's harness lines start each agent with its workspace's endpoint", async () => {
  const session = { GRID_MCP_URL: "http://127.0.0.1:4700/workspaces/r/n/mcp", GRID_MCP_TOKEN: "t" };
  assert.equal(
    await start("grid_claude", session),
    "claude --mcp-config /home/ada/.config/grid/claude-mcp.json --flag two words",
  );
  assert.equal(
    await start("grid_codex", session),
    `codex -c mcp_servers.grid.url="${session.GRID_MCP_URL}" -c ` +
      'mcp_servers.grid.bearer_token_env_var="GRID_MCP_TOKEN" --flag two words',
  );
  assert.equal(
    await start("grid_opencode", session),
    "opencode /home/ada/.config/grid/opencode.json --flag two words",
  );
  assert.equal(await start("grid_claude", {}), "claude --flag two words");
});
