import assert from "node:assert/strict";
import { attach, type AttachOptions } from "../../bridge/cli/attach/attach.ts";
import { capture, printedScreen } from "../../bridge/cli/attach/capture.ts";
import type { UserTerminal } from "../../shared/host/user_terminal.ts";
import { UserInput } from "../../bridge/cli/attach/user_input.ts";
import { systemClock } from "../../shared/clock.ts";
import { Grid, gridDifference } from "../../shared/terminal/grid.ts";
import { Emulator } from "../../ship/terminal/emulator.ts";
import { type MemorySocket, socketPair } from "../support/memory_socket.ts";
import { eventually, sessionName, TmuxFixture } from "./terminal_fixture.ts";

const name = sessionName("d");
const encoder = new TextEncoder();

/** A user's terminal: an emulator that shows what is written, and keys to press. */
class Desk implements UserTerminal, Disposable {
  emulator = new Emulator(80, 24, () => {});
  readonly raw: boolean[] = [];
  #dimensions = { cols: 80, rows: 24 };
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly input = new ReadableStream<Uint8Array>({ start: (c) => void (this.#controller = c) });
  #resized: (() => void) | null = null;
  written = "";

  size() {
    return this.#dimensions;
  }
  write(text: string): void {
    this.written += text;
    this.emulator.write(encoder.encode(text));
  }
  setRaw(raw: boolean): void {
    this.raw.push(raw);
  }
  onResize(handler: () => void): Disposable {
    this.#resized = handler;
    return { [Symbol.dispose]: () => void (this.#resized = null) };
  }
  onResume = () => ({ [Symbol.dispose]() {} });
  onHangup = () => ({ [Symbol.dispose]() {} });
  resize(cols: number, rows: number): void {
    this.#dimensions = { cols, rows };
    this.emulator.resize(cols, rows);
    this.#resized?.();
  }
  press(keys: string): void {
    this.#controller.enqueue(encoder.encode(keys));
  }
  get grid(): Grid {
    const grid = new Grid(this.#dimensions.cols, this.#dimensions.rows);
    this.emulator.read(grid);
    return grid;
  }
  get text(): string {
    const { grid } = this;
    return grid.lines.map((_, y) => grid.text(y)).join("\n");
  }
  shows(text: string): Promise<void> {
    return eventually(`${text} on the desk`, () => Promise.resolve(this.text.includes(text)))
      .catch((thrown) => assert.fail(`${thrown.message}\n${this.text}`));
  }
  [Symbol.dispose](): void {
    this.emulator[Symbol.dispose]();
  }
}

/** Sockets to the fixture's ship, the newest of them at hand to be cut. */
function dialler(tmux: TmuxFixture) {
  const opened: MemorySocket[] = [];
  const open = () => {
    const [client, server] = socketPair();
    opened.push(client);
    tmux.terminals.serve(server, name);
    return Promise.resolve(client);
  };
  return { opened, open };
}

const optionsOf = (desk: Desk, open: AttachOptions["open"], readOnly = false): AttachOptions => ({
  terminal: desk,
  open,
  isFatal: () => false,
  absence: () => Promise.reject(new Error("nobody can say")),
  stop: new AbortController().signal,
  clock: systemClock,
  name: "repo/work",
  readOnly,
});

Deno.test("attach shows the session, passes keys, resizes, and ends with its exit code", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  using desk = new Desk();
  const ending = attach(optionsOf(desk, dialler(tmux).open));
  await desk.shows("Ctrl-\\ leaves");
  desk.press("echo hé''llo\r");
  await desk.shows("héllo");
  assert.ok(!desk.text.includes("leaves"), "the hint goes with the first key");
  desk.resize(50, 12);
  desk.press("clear; echo we''ll\r");
  await desk.shows("well");
  desk.press("exit 9\r");
  assert.deepEqual(await ending, { kind: "exit", code: 9 });
  assert.deepEqual(desk.raw, [true, false]);
  assert.equal(desk.emulator.terminal.buffer.active.type, "normal");
  assert.equal(desk.emulator.terminal.modes.mouseTrackingMode, "none");
});

Deno.test("the detach key leaves and the session lives on", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  using desk = new Desk();
  const ending = attach(optionsOf(desk, dialler(tmux).open));
  await desk.shows("$");
  desk.press("\x1c");
  assert.deepEqual(await ending, { kind: "detached" });
  assert.match(await tmux.tmux("list-sessions"), /ws-d/);
  await eventually("the guard is free", () => Promise.resolve(tmux.terminals.open === 0));
});

Deno.test("a lost connection is announced, and mended with the whole screen", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  using desk = new Desk();
  const { opened, open } = dialler(tmux);
  const ending = attach(optionsOf(desk, open));
  await desk.shows("$");
  desk.press("echo be''fore\r");
  await desk.shows("before");
  opened[0]!.terminate();
  await desk.shows("trying again");
  await tmux.tmux("send-keys", "-t", name, "echo mean''while", "Enter");
  await desk.shows("meanwhile");
  await eventually("the status line is gone", () => Promise.resolve(!desk.text.includes("trying")));
  assert.equal(opened.length, 2);
  desk.press("\x1c");
  await ending;
});

Deno.test("read-only passes no key but the one that leaves", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "cat");
  using desk = new Desk();
  const ending = attach(optionsOf(desk, dialler(tmux).open, true));
  await desk.shows("watching repo/work");
  desk.press("typed\r");
  await tmux.tmux("send-keys", "-t", name, "from elsewhere", "Enter");
  await desk.shows("from elsewhere");
  assert.ok(!desk.text.includes("typed"));
  desk.press("\x1c");
  assert.deepEqual(await ending, { kind: "detached" });
});

Deno.test("a refusal, and a failure that no second try mends, end the attempts", async () => {
  using desk = new Desk();
  const [client, server] = socketPair();
  const ending = attach(optionsOf(desk, () => Promise.resolve(client)));
  server.close(1008, "revoked");
  assert.deepEqual(await ending, { kind: "refused", code: 1008, reason: "revoked" });
  using other = new Desk();
  const failing = attach({
    ...optionsOf(other, () => Promise.reject(new Error("no such workspace"))),
    isFatal: () => true,
  });
  await assert.rejects(failing, /no such workspace/);
  assert.deepEqual([other.raw, other.written], [[], ""], "nothing was shown yet");
});

Deno.test("capture takes one look, in three forms", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "printf 'plain \\033[1;31mred\\033[m 漢'; sleep 60");
  const [socket, server] = socketPair();
  tmux.terminals.serve(server, name);
  const captured = await capture({ socket, clock: systemClock, size: { cols: 40, rows: 5 } });
  assert.ok(captured.kind === "screen");
  const { grid } = captured;
  assert.equal(printedScreen(grid, "text"), "plain red 漢\n");
  assert.equal(printedScreen(grid, "ansi"), "plain \x1b[1;31mred\x1b[m 漢\n");
  const json = JSON.parse(printedScreen(grid, "json"));
  assert.deepEqual(json.lines[0], "plain red 漢");
  assert.deepEqual(json.cursor, { x: 12, y: 0, visible: true });
  const again = new Grid(40, 5);
  assert.notEqual(gridDifference(again, grid), null);
  await socket.until(() => socket.closed);
});

Deno.test("typed bytes become text: split characters wait, pastes keep the detach key", () => {
  const input = new UserInput();
  const bytes = encoder.encode("é");
  assert.deepEqual(input.take(bytes.subarray(0, 1)), { pieces: [], detach: false });
  assert.deepEqual(input.take(bytes.subarray(1)), { pieces: ["é"], detach: false });
  const paste = "\x1b[200~a\x1cb\x1b[201~";
  assert.deepEqual(input.take(encoder.encode(paste)), { pieces: [paste], detach: false });
  assert.deepEqual(input.take(encoder.encode("x\x1cy")), { pieces: ["x"], detach: true });
  const large = "😀".repeat(100_000);
  const { pieces } = input.take(encoder.encode(large));
  assert.equal(pieces.join(""), large);
  assert.ok(pieces.every((piece) => piece.isWellFormed() && piece.length <= 64 * 1024));
});

Deno.test("wherever reads cut the bytes, the text is the same and the same key leaves", () => {
  const paste = "\x1b[200~a\x1c\x1b[200~\x1b[20\x1b[201~";
  const cases: Array<[string, string, boolean]> = [
    [`ls\r${paste}b${paste}`, `ls\r${paste}b${paste}`, false],
    [`${paste}é😀\x1cignored`, `${paste}é😀`, true],
    ["\x1b[20\x1b[200~\x1c", "\x1b[20\x1b[200~\x1c", false],
    ["\x1b[200\x1c", "\x1b[200", true],
    ["\x1b[201~\x1c", "\x1b[201~", true],
  ];
  for (const [typed, expected, leaves] of cases) {
    const bytes = encoder.encode(typed);
    for (let size = 1; size <= bytes.length; size++) {
      const input = new UserInput();
      let text = "";
      let detach = false;
      for (let from = 0; from < bytes.length && !detach; from += size) {
        const taken = input.take(bytes.subarray(from, from + size));
        text += taken.pieces.join("");
        detach = taken.detach;
      }
      assert.deepEqual(
        [text, detach],
        [expected, leaves],
        `${JSON.stringify(typed)} by ${size}`,
      );
    }
  }
});

Deno.test("what nobody wants is dropped, a paste of which part was dropped to its end", () => {
  const input = new UserInput();
  const take = (text: string, wanted: boolean) => {
    const { pieces, detach } = input.take(encoder.encode(text), wanted);
    return detach ? "left" : pieces.join("");
  };
  const steps: Array<[string, boolean, string]> = [
    ["ls\r", false, ""],
    ["ab", true, "ab"],
    // The beginning is dropped: so is the rest, and no end is owed.
    ["x\x1b[200~rm\r", false, ""],
    ["-rf\r\x1c\x1b[201~cd\r", true, "cd\r"],
    // The beginning went out, the rest did not: the program gets its end before anything else.
    ["\x1b[200~one", true, "\x1b[200~one"],
    ["two", false, ""],
    ["three\r\x1b[201~e", true, "\x1b[201~e"],
    ["\x1b[200~four", true, "\x1b[200~four"],
    ["\x1b[201~five", false, ""],
    ["six", true, "\x1b[201~six"],
    // Two pastes lost in one piece.
    ["\x1b[200~a\x1b[201~\x1b[200~b", false, ""],
    ["c\x1b[201~d", true, "d"],
    ["\x1c", false, "left"],
  ];
  for (const [typed, wanted, sent] of steps) {
    assert.equal(take(typed, wanted), sent, JSON.stringify(typed));
  }
});
