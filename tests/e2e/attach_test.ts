/** `grid attach` as a process in a real terminal, through a bridge and a ship that are processes too. */
import assert from "node:assert/strict";
import { AttachRig, prompt } from "../support/attach_rig.ts";
import { eventually } from "../support/grid_process.ts";

const modesOff = "#{alternate_on}#{cursor_flag}#{mouse_any_flag}#{mouse_sgr_flag}" +
  "#{keypad_cursor_flag}#{keypad_flag}";

Deno.test("e2e attach: the whole screen, keys, sizes and title; the session's exit code is its own", async () => {
  await using rig = await AttachRig.start();
  const terminal = await rig.attach();
  assert.equal(await terminal.format("#{alternate_on}"), "1");
  await terminal.shows("attached to shop/one · Ctrl-\\ leaves");
  await terminal.type("echo h''é漢; stty size\r");
  const first = await terminal.shows(/^hé漢$/m);
  assert.match(first, /^24 100$/m);
  assert.ok(!first.includes("leaves"), "the hint goes with the first key");
  await terminal.resize(61, 17);
  await eventually(
    "the session has the size",
    async () =>
      (await rig.inner(
        "display-message",
        "-p",
        "#{window_width} #{window_height}",
      )).trim() ===
        "61 17",
  );
  // tmux passes sizes on to its panes in its own time.
  const until = 'until [ "$(stty size)" = "17 61" ]; do sleep 0.05; done; stty size';
  await terminal.type(`clear; ${until}; printf '\\033]2;a title\\007'\r`);
  await terminal.shows(/^17 61$/m);
  await terminal.has("#{pane_title}", "a title");
  await terminal.type("exit 42\r");
  await terminal.shows("code=42. restored");
  await terminal.has(modesOff, "010000");
});

Deno.test("e2e attach: pastes are one paste, in which no key leaves; the mouse is passed on", async () => {
  await using rig = await AttachRig.start();
  const terminal = await rig.attach();
  await terminal.type(
    "printf '\\033[?2004h'; stty raw -echo; echo rea''dy; cat -v\r",
  );
  await terminal.shows(/^ready/m);
  await terminal.paste("one\x1ctwo");
  await terminal.shows("^[[200~one^\\two^[[201~");
  // Longer than a read of a terminal: the marks fall anywhere.
  const long = "0123456789".repeat(3_000);
  await terminal.paste(`${long}\x1cend`);
  const text = await terminal.shows("^\\end^[[201~");
  assert.ok(text.replaceAll("\n", "").includes("0123456789".repeat(100)));
  await terminal.type("\x1c");
  await terminal.shows("code=0. restored");
  await terminal.has(modesOff, "010000");
  await terminal.paste("plain");
  assert.ok(
    !(await terminal.shows("plain")).includes("200~"),
    "bracketed paste is off again",
  );

  const again = await rig.open(["attach", "shop/one"]);
  await again.shows("^[[201~");
  await rig.inner(
    "respawn-pane",
    "-k",
    "stty raw -echo; printf '\\033[?1002h\\033[?1006hmice '; cat -v",
  );
  await again.shows("mice");
  await again.type("\x1b[<0;31;5M\x1b[<0;31;5m");
  await again.shows("^[[<0;31;5M^[[<0;31;5m");
  await again.type("\x1c");
  await again.shows("code=0. restored");
  await again.has(modesOff, "010000");
});

Deno.test("e2e attach: leaving and every signal give the terminal back and let the next one in", async () => {
  await using rig = await AttachRig.start();
  const left = await rig.attach();
  await left.type("\x1c");
  await left.shows(
    /detached from shop\/one; its session goes on\s+code=0\. restored/,
  );
  for (
    const [signal, code] of [["SIGTERM", 130], ["SIGHUP", 130], [
      "SIGINT",
      130,
    ]] as const
  ) {
    const terminal = await rig.attach();
    Deno.kill(await terminal.pid(), signal);
    await terminal.shows(`code=${code}. restored`);
    await terminal.has(modesOff, "010000");
  }
  const stopped = await rig.attach();
  const pid = await stopped.pid();
  await stopped.type("echo st''ays\r");
  await stopped.shows("stays");
  Deno.kill(pid, "SIGSTOP");
  // What a shell does with its terminal before its next prompt.
  const tty = await stopped.format("#{pane_tty}");
  await new Deno.Command("/usr/bin/stty", { args: ["-F", tty, "sane"] }).output();
  await rig.inner("send-keys", "echo mean''while", "Enter");
  Deno.kill(pid, "SIGCONT");
  await stopped.shows("meanwhile");
  await stopped.type("\x1c");
  await stopped.shows("code=0. restored");
  // Before the first picture the terminal is as it was, and Ctrl-C is what it always is.
  rig.signal("ship", "SIGSTOP");
  const waiting = await rig.open(["attach", "shop/one"]);
  await eventually("the command line runs", () => waiting.pid().then(() => true, () => false));
  await waiting.type("\x03");
  await waiting.shows("code=130. restored");
  rig.signal("ship", "SIGCONT");
  const lost = await rig.attach();
  const killed = await lost.pid();
  Deno.kill(killed, "SIGKILL");
  await eventually(
    "nobody is attached",
    async () => (await rig.inner("list-clients")).trim() === "",
  );
  await rig.attach();
});

Deno.test("e2e attach: read-only passes no key, but bells and copies; nothing of them is logged", async () => {
  await using rig = await AttachRig.start();
  const terminal = await rig.attach("--read-only");
  await terminal.shows("watching shop/one");
  await terminal.type("echo ty''ped\r");
  const secret = "copied-and-never-logged";
  const base64 = btoa(secret);
  await rig.inner(
    "send-keys",
    `printf '\\a\\033]52;c;%s\\007' ${base64}; echo d''one`,
    "Enter",
  );
  const text = await terminal.shows(/^done$/m);
  assert.ok(!text.includes("typed"));
  await eventually(
    "the text is in the user's clipboard",
    async () => await terminal.tmux("show-buffer").catch(() => "") === secret,
  );
  await terminal.has("#{window_bell_flag}", "1");
  // As large as it may be, through both hops.
  const large = "0123456789abcde\n".repeat(128 * 64);
  await Deno.writeTextFile(rig.place.at("large"), large);
  const copy = `{ printf '\\033]52;c;'; base64 -w0 ${rig.place.at("large")}; printf '\\007'; }`;
  await rig.inner("send-keys", copy, "Enter");
  await eventually(
    "the large text is there too",
    async () => await terminal.tmux("show-buffer") === large,
  );
  await terminal.type("\x1c");
  await terminal.shows("code=0. restored");
  assert.ok(
    !rig.logLines.some((line) => line.includes(secret) || line.includes(base64)),
  );
});

Deno.test("e2e attach: a tiny terminal, and one of no size", async () => {
  await using rig = await AttachRig.start();
  const terminal = await rig.open(["attach", "shop/one"], {
    cols: 20,
    rows: 5,
  });
  await terminal.shows(prompt);
  await terminal.resize(2, 1);
  await terminal.resize(1, 1);
  await terminal.resize(40, 6);
  await terminal.type(
    'until [ "$(stty size)" = "6 40" ]; do sleep 0.05; done; stty size\r',
  );
  await terminal.shows(/^6 40$/m);
  const tty = await terminal.format("#{pane_tty}");
  await new Deno.Command("/usr/bin/stty", {
    args: ["-F", tty, "rows", "0", "cols", "0"],
  }).output();
  await eventually(
    "a size that is none means 80 by 24",
    async () =>
      (await rig.inner(
        "display-message",
        "-p",
        "#{window_width} #{window_height}",
      )).trim() ===
        "80 24",
  );
  await terminal.type("\x1c");
  await terminal.shows("code=0.");
});
