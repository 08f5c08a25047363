import assert from "node:assert/strict";
import { join } from "node:path";
import { CommandLane } from "../../shared/host/command.ts";
import { findProgram } from "../../shared/host/files.ts";
import type { WorkspaceId } from "../../shared/ids.ts";
import { TmuxSessions } from "../../ship/tmux/tmux.ts";
import { workspaceId } from "../support/ids_support.ts";

const searchPath = "/usr/local/bin:/usr/bin:/bin";
const waitMs = 10_000;

/** A tmux of the test's own: its socket below a temporary directory, its server gone at the end. */
class Stage implements AsyncDisposable {
  private constructor(
    readonly directory: string,
    readonly lane: CommandLane,
    readonly tmux: string,
  ) {}

  static async make(): Promise<Stage> {
    const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "grid-tmux-" }));
    const tmux = await findProgram("tmux", searchPath);
    const timeoutPath = await findProgram("timeout", searchPath);
    assert(tmux !== null && timeoutPath !== null);
    const environment = {
      PATH: searchPath,
      HOME: directory,
      TMUX_TMPDIR: directory,
      LANG: "C.UTF-8",
      TERM: "xterm",
    };
    const programs = { tmux };
    const lane = new CommandLane({
      programs,
      timeoutPath,
      environment,
      concurrencyMax: 4,
      queueMax: 64,
    });
    return new Stage(directory, lane, tmux);
  }

  sessions(sessionCommand: string | null = null): TmuxSessions {
    return new TmuxSessions({ lane: this.lane, shell: "/bin/sh", sessionCommand });
  }

  /** A plain tmux call on the same server, as a user would make it. */
  async raw(args: readonly string[], stdin?: string) {
    const all = ["-L", "grid-ship", ...args];
    const options = { timeoutMs: waitMs, ...stdin === undefined ? {} : { stdin } };
    const result = await this.lane.run("tmux", all, options);
    return { ...result, text: new TextDecoder().decode(result.stdout).trim() };
  }

  /** One command by a client attached to the workspace's session, as a user's is, and what it printed. */
  async attached(id: WorkspaceId, command: readonly string[]): Promise<string> {
    const target = `=${await this.sessions().nameOf(id)}:`;
    // Control mode needs no terminal, but leaves at the end of its input, now and then before the list.
    const last = ["display-message", "-p", "all done"];
    const list = ["-C", "attach", "-t", target, ";", ...command, ";", ...last];
    let text = "";
    await eventually("the list has run", async () => {
      text = (await this.raw(list, "")).text;
      return /^all done$/m.test(text);
    });
    return text;
  }

  async make(name: string): Promise<string> {
    const path = join(this.directory, name);
    await Deno.mkdir(path, { recursive: true });
    return path;
  }

  async panePid(name: string): Promise<number> {
    return Number((await this.raw(["list-panes", "-t", `=${name}:`, "-F", "#{pane_pid}"])).text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.raw(["kill-server"]);
    await Deno.remove(this.directory, { recursive: true });
  }
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + waitMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function procText(pid: number | string, file: string): Promise<string> {
  return await Deno.readTextFile(`/proc/${pid}/${file}`).catch(() => "");
}

const absent = (path: string) => Deno.lstat(path).then(() => false, () => true);

const hostile = [
  "plain",
  "#(touch PWNED)",
  "#{session_name}",
  "a b; touch PWNED;",
  'it\'s "quoted" `touch PWNED` $(touch PWNED) $HOME',
  "%H {curly} ~ * ?",
  "-c",
  "=exact:",
  "emoji 🚀 é",
  "#[fg=red]x#,y",
];

Deno.test("names without a server: none, and stopping is fine", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  assert.equal((await sessions.names()).size, 0);
  await sessions.stop(workspaceId("r", "w"));
});

Deno.test("hostile names and directories start sessions that run nothing but the shell", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  for (const name of hostile) {
    const id = workspaceId(name, name);
    const directory = await stage.make(name);
    await sessions.start(id, directory, { GRID_REPO: name, GRID_WORKSPACE: name });
    const session = await sessions.nameOf(id);
    assert((await sessions.names()).has(session), name);
    const pid = await stage.panePid(session);
    assert.equal(await Deno.readLink(`/proc/${pid}/cwd`), directory);
    const environment = (await procText(pid, "environ")).split("\0");
    assert(environment.includes(`GRID_WORKSPACE=${name}`), name);
  }
  assert.equal((await sessions.names()).size, hostile.length);
  for (const name of ["", ...hostile]) {
    assert(await absent(join(stage.directory, name, "PWNED")), `a command ran in ${name}`);
  }
  for (const name of hostile) await sessions.stop(workspaceId(name, name));
  assert.equal((await sessions.names()).size, 0);
});

Deno.test("a second window stands in the workspace and has its variables", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  await sessions.start(workspaceId("r", "first"), await stage.make("first"), { GRID_REPO: "1" });
  const id = workspaceId("r", "two");
  const directory = await stage.make("#(touch PWNED) two");
  await sessions.start(id, directory, { GRID_MCP_TOKEN: "second" });
  const text = await stage.attached(id, ["new-window", "-d", "-P", "-F", "pid=#{pane_pid}"]);
  const pid = /^pid=(\d+)$/m.exec(text)?.[1] ?? "";
  await eventually("the window's shell runs", async () => (await procText(pid, "comm")) === "sh\n");
  const environment = (await procText(pid, "environ")).split("\0");
  assert(environment.includes("GRID_MCP_TOKEN=second"), text);
  assert.equal(await Deno.readLink(`/proc/${pid}/cwd`), directory);
  assert(!environment.includes("GRID_REPO=1"));
  assert(await absent(join(directory, "PWNED")) && await absent(join(stage.directory, "PWNED")));
});

Deno.test("a token is in its own session and nowhere else", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  const token = crypto.randomUUID();
  const [mine, other] = [workspaceId("r", "mine"), workspaceId("r", "other")];
  // The first start also starts the server: its arguments and environment are the server's for good.
  await sessions.start(mine, await stage.make("mine"), { GRID_MCP_TOKEN: token });
  await sessions.start(other, await stage.make("other"), { GRID_REPO: "r" });

  const server = (await stage.raw(["display-message", "-p", "#{pid}"])).text;
  const holders: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    assert(!(await procText(name, "cmdline")).includes(token), `cmdline of ${name}`);
    if ((await procText(name, "environ")).includes(token)) holders.push(name);
  }
  assert.deepEqual(holders, [String(await stage.panePid(await sessions.nameOf(mine)))]);
  assert((await procText(server, "environ")).includes("TMUX_TMPDIR="), "the server was looked at");
  assert(!holders.includes(server));

  assert(!(await stage.raw(["show-environment", "-g"])).text.includes(token));
  const otherTarget = `=${await sessions.nameOf(other)}`;
  assert(!(await stage.raw(["show-environment", "-t", otherTarget])).text.includes(token));
  // tmux keeps a log of commands, `-e` values with it, unless told not to.
  const messages = await stage.attached(other, ["show-messages"]);
  assert(!messages.includes(token), messages);
});

Deno.test("targets are exact: stopping one leaves what its name is a prefix of", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  const id = workspaceId("r", "w");
  const name = await sessions.nameOf(id);
  await stage.raw(["-f", "/dev/null", "new-session", "-d", "-s", `${name}-longer`, "/bin/sh"]);
  await sessions.stop(id);
  assert.equal(
    (await stage.raw(["list-sessions", "-F", "#{session_name}"])).text,
    `${name}-longer`,
  );
  assert.equal((await sessions.names()).size, 0, "a name that only begins like ours is not ours");
});

Deno.test("starting twice is refused and leaves the first alone", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  const id = workspaceId("r", "w");
  const directory = await stage.make("w");
  await sessions.start(id, directory, {});
  const pid = await stage.panePid(await sessions.nameOf(id));
  await assert.rejects(sessions.start(id, directory, {}), { code: "workspaceAlreadyActive" });
  assert.equal(await stage.panePid(await sessions.nameOf(id)), pid);
});

Deno.test("a dead server: no names, a stale socket does not matter, starting works again", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  const id = workspaceId("r", "w");
  const directory = await stage.make("w");
  await sessions.start(id, directory, {});
  const server = Number((await stage.raw(["display-message", "-p", "#{pid}"])).text);
  Deno.kill(server, "SIGKILL");
  await eventually("no session", async () => (await sessions.names()).size === 0);
  await sessions.stop(id);
  await sessions.start(id, directory, {});
  assert((await sessions.names()).has(await sessions.nameOf(id)));
});

Deno.test("stop and start in quick turns: a server that is just ending is no failure", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions();
  const id = workspaceId("r", "w");
  const directory = await stage.make("w");
  for (let turn = 0; turn < 15; turn += 1) {
    await sessions.start(id, directory, {});
    await sessions.stop(id);
  }
  assert.equal((await sessions.names()).size, 0);
});

Deno.test("a session whose shell has exited is not active, kept pane or not, and starts again", async () => {
  await using stage = await Stage.make();
  const sessions = stage.sessions("read line");
  const id = workspaceId("r", "w");
  const directory = await stage.make("w");
  const name = await sessions.nameOf(id);
  await sessions.start(workspaceId("r", "keeps the server"), directory, {});
  await sessions.start(id, directory, {});
  const target = `=${name}:`;
  await stage.raw(["set-option", "-w", "-t", target, "remain-on-exit", "on"]);
  await stage.raw(["send-keys", "-t", target, "Enter"]);
  await eventually("not active", async () => !(await sessions.names()).has(name));
  assert.equal((await stage.raw(["list-panes", "-t", target, "-F", "#{pane_dead}"])).text, "1");
  await sessions.start(id, directory, {});
  assert((await sessions.names()).has(name));
  await stage.raw(["send-keys", "-t", target, "Enter"]);
  await eventually("gone", async () => !(await sessions.names()).has(name));
  assert.equal((await stage.raw(["has-session", "-t", target])).code, 1);
});

Deno.test("a shell that tmux refuses is a failure that leaves no session", async () => {
  await using stage = await Stage.make();
  const bad = new TmuxSessions({ lane: stage.lane, shell: "relative", sessionCommand: null });
  await assert.rejects(
    bad.start(workspaceId("r", "w"), await stage.make("w"), {}),
    { code: "commandFailed", message: /not a suitable shell/ },
  );
  assert.equal((await bad.names()).size, 0);
});

Deno.test("the user's tmux configuration is not read, the server's options are ours", async () => {
  await using stage = await Stage.make();
  await Deno.writeTextFile(
    join(stage.directory, ".tmux.conf"),
    "set -g status on\nset -g mouse off\n",
  );
  const sessions = stage.sessions();
  await sessions.start(workspaceId("r", "w"), await stage.make("w"), {});
  const option = async (...args: string[]) =>
    (await stage.raw(["show-options", "-v", ...args])).text;
  assert.equal(await option("-g", "status"), "off");
  assert.equal(await option("-g", "mouse"), "on");
  assert.equal(await option("-g", "set-titles"), "on");
  assert.equal(await option("-s", "set-clipboard"), "on");
  assert.equal(await option("-g", "update-environment"), "");
});
