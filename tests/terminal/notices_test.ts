/** Bells and clipboard writes: from bytes to frames, over a real tmux, to the user's terminal. */
import assert from "node:assert/strict";
import { limits } from "../../shared/limits.ts";
import { ScreenFollower } from "../../shared/terminal/client.ts";
import { FrameEncoder } from "../../shared/terminal/diff.ts";
import {
  clipboardRequest,
  noticeBytes,
  type Notices,
  noticesOf,
} from "../../shared/terminal/notices.ts";
import { decodeServerFrame } from "../../shared/terminal/protocol.ts";
import { Emulator } from "../../ship/terminal/emulator.ts";
import { NoticeWatch } from "../../ship/terminal/notices.ts";
import { Screen } from "../../ship/terminal/screen.ts";
import { changedGrid, randomGrid, seeded } from "./random_grid.ts";
import { eventually, sessionName, type TestClient, TmuxFixture } from "./terminal_fixture.ts";

const name = sessionName("c");
const encoder = new TextEncoder();
const osc = (text: string) => `\x1b]52;c;${encoder.encode(text).toBase64()}\x07`;
const largest = limits.terminalClipboardBytesMax;

Deno.test("an OSC 52 is a text, too large, or nothing", () => {
  const text = (value: string) => ({ kind: "text", text: value });
  const none = { kind: "none" };
  const base64 = (value: string) => encoder.encode(value).toBase64();
  const cases: Array<[string, object]> = [
    [`c;${base64("one\ttwo\n")}`, text("one\ttwo\n")],
    [`;${base64("é漢😀")}`, text("é漢😀")],
    [`p;${base64("primary")}`, text("primary")],
    [`s0;${base64("xterm's default")}`, text("xterm's default")],
    [`c;${base64("\x1b]52;c;?\x07")}`, text("\x1b]52;c;?\x07")],
    ["c;YQ", text("a")],
    ["c;/w==", text("\ufffd")],
    [`c;${base64("a".repeat(largest))}`, text("a".repeat(largest))],
    [`c;${base64("é".repeat(largest / 2) + "a")}`, { kind: "too large" }],
    [`c;${"A".repeat(4 * largest)}`, { kind: "too large" }],
    [`q;${base64("query buffer")}`, none],
    [`0;${base64("cut buffer")}`, none],
    ["c;?", none],
    ["c;", none],
    ["c", none],
    ["", none],
    ["c;!", none],
    ["c;YWJ;j", none],
  ];
  for (const [data, request] of cases) {
    assert.deepEqual(clipboardRequest(data), request, data.slice(0, 40));
  }
  // A byte that is no UTF-8 becomes three; what was small enough may then be too large.
  const broken = new Uint8Array(largest).fill(0xff).toBase64();
  assert.deepEqual(clipboardRequest(`c;${broken}`), { kind: "too large" });
});

Deno.test("every notice arrives once, whatever frames carry it and whatever the client can use", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seeded(seed);
    const frames = new FrameEncoder();
    const follower = new ScreenFollower();
    let now = randomGrid(random, 30, 8);
    const said: Notices[] = [];
    const heard: Notices[] = [];
    const useful = (notices: Notices) => notices.bell || notices.clipboard !== null;
    for (let step = 0; step < 40; step++) {
      const notices = {
        bell: random() < 0.3,
        clipboard: random() < 0.3 ? `text ${step}\u0000\n漢` : null,
      };
      const encoded = step === 0 || random() < 0.1
        ? frames.snapshot(now, notices)
        : frames.patch(now, notices);
      if (useful(notices)) said.push(notices);
      if (encoded === null) assert.ok(!useful(notices));
      else {
        const broken = random() < 0.1 ? { ...encoded.frame, cursor: [29, 400, 1] } : encoded.frame;
        const received = follower.receive(JSON.stringify(broken));
        assert.notEqual(received.kind, "exit");
        if (received.kind !== "exit" && useful(received.notices)) {
          heard.push(received.notices);
        }
        assert.equal(
          received.kind === "screen" || received.kind === "skipped",
          true,
        );
      }
      if (random() < 0.5) now = changedGrid(random, now);
    }
    assert.deepEqual(heard, said, `seed ${seed}`);
  }
});

Deno.test("frames carry nothing but a text of the allowed size and a bell that is 1", () => {
  const patch = (more: object) => JSON.stringify({ type: "patch", seq: 2, ...more });
  const good = [{ bell: 1 }, { clipboard: "a" }, {
    clipboard: "\u0001".repeat(largest),
  }];
  for (const more of good) {
    assert.notEqual(decodeServerFrame(patch(more)), null);
  }
  const bad = [
    { bell: 0 },
    { bell: 2 },
    { bell: true },
    { clipboard: "" },
    { clipboard: null },
    { clipboard: "a".repeat(largest + 1) },
    { clipboard: "é".repeat(largest / 2) + "a" },
    { clipboard: "\ud800" },
  ];
  for (const more of bad) {
    assert.equal(decodeServerFrame(patch(more)), null, patch(more));
  }
});

async function fed(screen: Screen, bytes: string): Promise<Notices | null> {
  await screen.feed(encoder.encode(bytes), () => {});
  const drawn = screen.draw("patch");
  if (drawn === null) return null;
  const frame = decodeServerFrame(drawn.text);
  assert.ok(frame !== null && frame.type !== "exit");
  return noticesOf(frame);
}

Deno.test("a bell alone is a frame, a flood of bells one, and no snapshot repeats it", async () => {
  const replies: string[] = [];
  using screen = new Screen(
    { cols: 20, rows: 5 },
    (reply) => replies.push(reply),
  );
  screen.draw("snapshot");
  assert.equal(await fed(screen, ""), null);
  assert.deepEqual(await fed(screen, "\x07"), { bell: true, clipboard: null });
  assert.equal(await fed(screen, ""), null);
  assert.deepEqual(await fed(screen, "\x07".repeat(100_000)), {
    bell: true,
    clipboard: null,
  });
  assert.equal(await fed(screen, ""), null);
  await screen.feed(encoder.encode("\x07" + osc("old") + osc("new")), () => {});
  const snapshot = JSON.parse(screen.draw("snapshot")!.text);
  assert.deepEqual([snapshot.bell, snapshot.clipboard], [1, "new"]);
  const resync = JSON.parse(screen.draw("snapshot")!.text);
  assert.deepEqual([resync.bell, resync.clipboard], [undefined, undefined]);
  // The BEL that ends an OSC is none, and a question is nothing.
  assert.equal(await fed(screen, "\x1b]52;c;?\x07"), null);
  assert.deepEqual(replies, []);
  const tooLarge = await fed(screen, osc("a".repeat(largest + 1)));
  assert.deepEqual(tooLarge, { bell: true, clipboard: null });
  const most = await fed(screen, osc("\x01".repeat(largest)));
  assert.deepEqual(most, { bell: false, clipboard: "\x01".repeat(largest) });
});

Deno.test("what the user's terminal is told, a terminal understands", () => {
  using emulator = new Emulator(20, 5, () => {});
  const watch = new NoticeWatch(emulator.terminal);
  for (
    const clipboard of ["a", "é漢😀\u0000\x1b\\\n", "x".repeat(largest), null]
  ) {
    for (const bell of [true, false]) {
      emulator.write(encoder.encode(noticeBytes({ bell, clipboard })));
      assert.deepEqual(watch.take(), { bell, clipboard });
    }
  }
});

/** Copies as programs do it; split in the source so that its echo is not the thing itself. */
const copies = (text: string) => `printf '\\033]52;c;%s\\007' ${encoder.encode(text).toBase64()}`;

async function attached(tmux: TmuxFixture): Promise<TestClient> {
  const client = tmux.connect(name);
  client.init();
  await client.shows("$");
  return client;
}

Deno.test("a session's bell and copies arrive through tmux, once, and not again", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = await attached(tmux);
  client.type("printf '\\a'; echo ra''ng\r");
  await client.shows("rang");
  await client.socket.until(() => client.bells > 0);
  client.type(`${copies("first é漢")}\r`);
  await client.socket.until(() => client.copied.length === 1);
  client.type(`${copies("second\nline")}; echo bo''th\r`);
  await client.shows("both");
  await client.socket.until(() => client.copied.length === 2);
  const { bells } = client;
  client.send({ type: "resync" });
  client.send({ type: "resize", cols: 90, rows: 20 });
  await client.socket.until(() => client.grid?.cols === 90);
  client.socket.close(1000);
  await client.closes();
  const again = await attached(tmux);
  again.type("echo qui''et\r");
  await again.shows("quiet");
  assert.deepEqual([again.bells, again.copied], [0, []]);
  assert.deepEqual([client.bells, client.copied], [bells, [
    "first é漢",
    "second\nline",
  ]]);
});

Deno.test("a flood of bells costs few frames, and the keys after it arrive", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = await attached(tmux);
  const before = client.frames;
  client.type(
    "yes \"$(printf '\\a')\" | head -c 300000 | tr -d '\\n'; echo do''ne\r",
  );
  await client.shows("done");
  await client.socket.until(() => client.bells > 0);
  assert.ok(client.frames - before < 300, `${client.frames - before} frames`);
});

Deno.test("a copy waits for credit, and the newest of several is told", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = await attached(tmux);
  client.acking = false;
  const seen = client.frames;
  const mark = `${tmux.folder}/mark`;
  client.type(
    "echo one; sleep 0.1; echo two; sleep 0.1; echo three; sleep 0.1; echo four\r",
  );
  await client.socket.until(() => client.frames === seen + 2);
  client.type(`clear; ${copies("older")}; ${copies("newer")}; touch ${mark}\r`);
  await eventually(
    "it was copied",
    () => Deno.stat(mark).then(() => true, () => false),
  );
  assert.deepEqual(client.copied, []);
  client.acking = true;
  client.send({ type: "ack", seq: client.frames });
  await client.socket.until(() => client.copied.length > 0);
  await client.socket.until(() => client.copied.at(-1) === "newer");
});

Deno.test("a session cannot read the clipboard, and its last copy outlives it", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, "sh");
  const client = await attached(tmux);
  // tmux answers from its own buffers, in which stands what sessions copied; here nobody has yet.
  const answer = `${tmux.folder}/answer`;
  client.type(
    "stty -echo raw min 0 time 5; printf '\\033]52;c;?\\007'; " +
      `cat > ${answer}; stty sane; echo as''ked\r`,
  );
  await client.shows("asked");
  assert.ok(
    !/[A-Za-z0-9]{3}/.test(
      (await Deno.readTextFile(answer)).replace("52;c;", ""),
    ),
  );
  client.type(`${copies("last")}; exit 3\r`);
  await client.closes();
  assert.equal(client.exitCode, 3);
  assert.deepEqual(client.copied, ["last"]);
});
