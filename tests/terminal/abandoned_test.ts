import assert from "node:assert/strict";
import { ManualClock } from "../../shared/clock.ts";
import { silentLog } from "../../shared/log.ts";
import { Terminals } from "../../ship/terminal/terminals.ts";
import { socketPair } from "../support/memory_socket.ts";
import { decoder, eventually, programPath, sessionName, TmuxFixture } from "./terminal_fixture.ts";

Deno.test("a ship that is killed leaves the session as it was and no client behind", async () => {
  await using tmux = await TmuxFixture.start();
  const name = sessionName("e");
  await tmux.session(name, "sh");
  const ship = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--cached-only", new URL("abandoned_ship.ts", import.meta.url).pathname],
      ...[tmux.folder, tmux.paths.tmux, tmux.paths.script],
      ...[await programPath("timeout"), await programPath("stty")],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = ship.stdout.getReader();
  const { value } = await reader.read();
  assert.match(decoder.decode(value), /holding/);
  assert.ok((await tmux.clients()).length >= 1);
  ship.kill("SIGKILL");
  await ship.status;
  await reader.cancel();
  await eventually("no client is left", async () => (await tmux.clients()).length === 0);
  await tmux.tmux("send-keys", "-t", name, "", "Enter", "echo al''ive", "Enter");
  await eventually("the shell answers", async () => {
    const screen = await tmux.tmux("capture-pane", "-p", "-t", name);
    return /alive$/m.test(screen);
  });
  // A client left behind would keep the server from ending.
  const pid = (await tmux.tmux("display-message", "-p", "#{pid}")).trim();
  await tmux.tmux("kill-server");
  await eventually("the server is gone", async () => {
    return !await Deno.stat(`/proc/${pid}`).then(() => true, () => false);
  });
});

Deno.test("a terminal whose init is late is closed at five seconds, and its guard is free", async () => {
  await using tmux = await TmuxFixture.start();
  const clock = new ManualClock();
  await using terminals = new Terminals({
    host: { lane: tmux.lane },
    socketName: "grid-ship",
    tmuxPath: tmux.paths.tmux,
    scriptPath: tmux.paths.script,
    clock,
    log: silentLog,
  });
  const [client, server] = socketPair();
  terminals.serve(server, sessionName("f"));
  clock.advance(4_999);
  await Promise.resolve();
  assert.equal(terminals.open, 1);
  clock.advance(1);
  await client.until(() => client.closed);
  assert.deepEqual(client.closeSeen, { code: 1008, reason: "terminal init timeout" });
  assert.equal(terminals.open, 0);
});
