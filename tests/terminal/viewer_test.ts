import assert from "node:assert/strict";
import { eventually, sessionName, TmuxFixture } from "./terminal_fixture.ts";

const name = sessionName("a");

Deno.test("a terminal shows, types, resizes, and ends with the shell's own code", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = tmux.connect(name);
  client.init(100, 30);
  await client.shows("$");
  client.type("printf 'h\\303\\251llo%s\\n' -there\r");
  await client.shows("héllo-there");
  client.send({ type: "resize", cols: 60, rows: 10 });
  await client.socket.until(() => client.grid?.cols === 60 && client.grid.rows === 10);
  // tmux passes sizes on to its panes in its own time.
  client.type('clear; until [ "$(stty size)" = "10 60" ]; do sleep 0.05; done; stty size\r');
  await client.shows(/^10 60$/m);
  client.type("exit 7\r");
  assert.deepEqual(await client.closes(), { code: 1000, reason: "" });
  assert.equal(client.exitCode, 7);
  assert.equal(tmux.terminals.open, 0);
});

Deno.test("a shell that exits 0, one that a signal ends, a detach, a session killed", async () => {
  await using tmux = await TmuxFixture.start();
  const cases: Array<[string, (tmux: TmuxFixture, name: string) => Promise<unknown>, number]> = [
    ["0", (tmux, name) => tmux.tmux("send-keys", "-t", name, "exit 0", "Enter"), 0],
    ["1", (tmux, name) => tmux.tmux("send-keys", "-t", name, "kill -9 $$", "Enter"), 137],
    ["2", (tmux, name) => tmux.tmux("detach-client", "-s", name), 0],
    ["3", (tmux, name) => tmux.tmux("kill-session", "-t", name), 0],
  ];
  await tmux.session(sessionName("9"), "sh");
  for (const [digit, finish, code] of cases) {
    const session = sessionName(digit);
    await tmux.session(session, "sh");
    const client = tmux.connect(session);
    client.init();
    await client.shows("$");
    await finish(tmux, session);
    assert.deepEqual(await client.closes(), { code: 1000, reason: "" }, digit);
    assert.equal(client.exitCode, code, digit);
  }
});

Deno.test("a pane that dies beside others goes, and the session stays", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = tmux.connect(name);
  client.init();
  await client.shows("$");
  await tmux.tmux("split-window", "-t", name, "printf split-here; sleep 0.3; exit 5");
  await client.shows("split-here");
  await eventually("one pane is left", async () => {
    const panes = await tmux.tmux("list-panes", "-t", name);
    return panes.trim().split("\n").length === 1;
  });
  assert.equal(client.exitCode, null);
  client.type("echo st''ill\r");
  await client.shows("still");
});

Deno.test("a second terminal of a session is turned away; the first may come again", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const first = tmux.connect(name);
  first.init();
  await first.shows("$");
  const second = tmux.connect(name);
  await second.closes();
  assert.deepEqual(second.socket.received, ['{"type":"exit","code":1}']);
  first.socket.close(1000);
  await first.closes();
  const again = tmux.connect(name);
  again.init();
  await again.shows("$");
  await eventually("one client is attached", async () => (await tmux.clients()).length === 1);
});

Deno.test("a session that does not exist exits 1", async () => {
  await using tmux = await TmuxFixture.start();
  const client = tmux.connect(name);
  client.init();
  await client.closes();
  assert.equal(client.exitCode, 1);
  assert.equal(tmux.terminals.open, 0);
});

Deno.test("bad messages get their code and reason, and the guard is free again", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const invalid = { code: 1008, reason: "Invalid terminal message" };
  const binary = { code: 1003, reason: "Binary terminal messages are not supported" };
  const init = '{"type":"init","cols":80,"rows":24}';
  const cases: Array<[string[], { code: number; reason: string }]> = [
    [["{"], invalid],
    [['{"type":"ack","seq":1}'], invalid],
    [['{"type":"init","cols":0,"rows":24}'], invalid],
    [['{"type":"init","cols":1025,"rows":24}'], invalid],
    [[init, init], invalid],
    [[init, "nonsense"], invalid],
    [[init, '{"type":"resize","cols":80,"rows":513}'], invalid],
    [[init, JSON.stringify({ type: "input", data: "x".repeat(256 * 1024 + 1) })], invalid],
    [["binary"], binary],
    [[init, "binary"], binary],
  ];
  for (const [messages, ending] of cases) {
    const client = tmux.connect(name);
    for (const text of messages) {
      if (text === "binary") client.socket.sendBinary();
      else client.socket.send(text);
    }
    assert.deepEqual(await client.closes(), ending, messages.join(" ").slice(0, 100));
    assert.equal(tmux.terminals.open, 0);
  }
  const client = tmux.connect(name);
  client.init();
  await client.shows("$");
});

Deno.test("a pasted megabyte arrives byte for byte", async () => {
  await using tmux = await TmuxFixture.start();
  const out = `${tmux.folder}/out`;
  await tmux.session(
    name,
    `stty raw -echo; printf ready; head -c 1000000 > ${out}; printf whole; cat`,
  );
  const client = tmux.connect(name);
  client.init();
  await client.shows("ready");
  let sent = "";
  for (let i = 0; i < 10; i++) {
    const piece = Array.from(
      { length: 10_000 },
      (_, n) => String((i * 10_000 + n) % 1e9).padStart(9) + "\n",
    )
      .join("");
    sent += piece;
    client.type(piece);
  }
  await client.shows("whole");
  assert.equal(await Deno.readTextFile(out), sent);
});

Deno.test("a server that dies ends the terminal and frees its guard", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = tmux.connect(name);
  client.init();
  await client.shows("$");
  const pid = Number(await tmux.tmux("display-message", "-p", "#{pid}"));
  Deno.kill(pid, "SIGKILL");
  assert.equal((await client.closes()).code, 1000);
  assert.equal(client.exitCode, 1);
  assert.equal(tmux.terminals.open, 0);
});

Deno.test("a flood leaves the client with the last screen, and typing works in it", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = tmux.connect(name);
  client.init();
  await client.shows("$");
  client.type("yes flooding | head -c 20000000; echo do''ne\r");
  await client.shows("done");
  await tmux.tmux("split-window", "-t", name, "yes other-pane");
  await client.shows("other-pane");
  await tmux.tmux("select-pane", "-t", `${name}:.0`);
  client.type("echo ec''ho\r");
  await client.shows("echo");
  assert.ok(client.characters < 5_000_000, `${client.characters} characters`);
  client.socket.close(1000);
  await eventually("nobody is attached", async () => (await tmux.clients()).length === 0);
});
