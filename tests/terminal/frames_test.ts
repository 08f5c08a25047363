import assert from "node:assert/strict";
import { FrameRefused, Picture } from "../../shared/terminal/apply.ts";
import { ScreenFollower } from "../../shared/terminal/client.ts";
import { FrameEncoder } from "../../shared/terminal/diff.ts";
import { type Grid, gridDifference } from "../../shared/terminal/grid.ts";
import {
  type ClientFrame,
  decodeClientFrame,
  decodeServerFrame,
  type Patch,
  type Snapshot,
} from "../../shared/terminal/protocol.ts";
import { below, changedGrid, type Random, randomGrid, seeded } from "./random_grid.ts";

const encode = (encoder: FrameEncoder, now: Grid) =>
  encoder.needsSnapshot(now) ? encoder.snapshot(now) : encoder.patch(now);

function overTheWire(frame: Snapshot | Patch): Snapshot | Patch {
  const text = JSON.stringify(frame);
  const decoded = decodeServerFrame(text);
  assert.ok(
    decoded !== null && decoded.type !== "exit",
    `the schema refuses ${text.slice(0, 400)}`,
  );
  return decoded;
}

const someSize = (random: Random) => [1 + below(random, 90), 1 + below(random, 30)] as const;

Deno.test("a client that applies every frame shows every screen", () => {
  for (let seed = 1; seed <= 120; seed++) {
    const random = seeded(seed);
    let now = randomGrid(random, ...someSize(random));
    const encoder = new FrameEncoder();
    let picture: Picture | null = null;
    for (let step = 0; step < 12; step++) {
      const encoded = encode(encoder, now);
      if (encoded !== null) {
        const frame = overTheWire(encoded.frame);
        if (frame.type === "snapshot") picture = Picture.of(frame);
        else picture!.apply(frame);
      }
      assert.equal(gridDifference(picture!.grid, now), null, `seed ${seed}, step ${step}`);
      now = random() < 0.05 ? randomGrid(random, ...someSize(random)) : changedGrid(random, now);
    }
  }
});

Deno.test("an unchanged screen has no frame", () => {
  const grid = randomGrid(seeded(5), 80, 24);
  const encoder = new FrameEncoder();
  encoder.snapshot(grid);
  assert.equal(encoder.patch(grid), null);
});

Deno.test("a log that scrolls costs its new rows, not the screen", () => {
  const random = seeded(7);
  const before = randomGrid(random, 80, 24);
  for (let y = 0; y < 24; y++) {
    for (let x = 0; x < 80; x++) before.line(y).codes[x] = 0x61 + (x * 7 + y * 13) % 26;
  }
  const encoder = new FrameEncoder();
  encoder.snapshot(before);
  const after = changedGrid(() => 0.99, before);
  after.copyFrom(before);
  after.scroll(0, 23, 2);
  const encoded = encoder.patch(after);
  assert.deepEqual(encoded?.frame.scroll, [0, 23, 2]);
  assert.equal(encoded?.frame.rows, undefined);
});

Deno.test("a frame too large comes in parts that end with the whole screen", () => {
  const random = seeded(11);
  const grid = randomGrid(random, 1024, 200);
  for (let y = 0; y < grid.rows; y++) {
    for (let x = 0; x < grid.cols; x++) {
      const fg = 0x1000000 + y * 1024 + x;
      grid.line(y).codes[x] = 0x78;
      grid.line(y).styles[x] = grid.inks.style({ ...grid.inks.styleAt(0), fg });
    }
  }
  const encoder = new FrameEncoder();
  let encoded: ReturnType<typeof encode> = encoder.snapshot(grid);
  let picture: Picture | null = null;
  let frames = 0;
  while (encoded !== null) {
    assert.ok(JSON.stringify(encoded.frame).length < 256 * 1024);
    const frame = overTheWire(encoded.frame);
    if (frame.type === "snapshot") picture = Picture.of(frame);
    else picture!.apply(frame);
    frames++;
    encoded = encoded.more ? encode(encoder, grid) : null;
  }
  assert.ok(frames > 10);
  assert.equal(gridDifference(picture!.grid, grid), null);
});

Deno.test("a follower that loses frames converges after its resync", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed);
    const follower = new ScreenFollower();
    const encoder = new FrameEncoder();
    let now = randomGrid(random, 60, 20);
    let resync = true;
    for (let step = 0; step < 40; step++) {
      const lossy = step < 30;
      const encoded: ReturnType<typeof encode> = resync
        ? encoder.snapshot(now)
        : encoder.patch(now);
      resync = false;
      if (encoded !== null && !(lossy && random() < 0.3)) {
        const received = follower.receive(JSON.stringify(encoded.frame));
        assert.notEqual(received.kind, "exit");
        const sent: readonly ClientFrame[] = received.kind === "exit" ? [] : received.send;
        assert.ok(sent.some((frame) => frame.type === "ack" && frame.seq === encoded.frame.seq));
        resync = sent.some((frame) => frame.type === "resync");
      }
      now = changedGrid(random, now);
    }
    const last = resync || follower.grid === null ? encoder.snapshot(now) : encoder.patch(now);
    if (last !== null) follower.receive(JSON.stringify(last.frame));
    if (follower.grid === null) follower.receive(JSON.stringify(encoder.snapshot(now).frame));
    assert.equal(gridDifference(follower.grid!, now), null, `seed ${seed}`);
  }
});

const snapshot: Snapshot = {
  type: "snapshot",
  seq: 1,
  cols: 4,
  rows: 2,
  styles: [[-1, -1, 0]],
  grid: [[0, "ab"]],
  cursor: [0, 0, 1],
  modes: 0,
  title: "",
};

Deno.test("a frame that does not fit the screen is refused", () => {
  const bad: Array<[string, Partial<Patch>]> = [
    ["past the end", { rows: [[0, 3, 0, "ab"]] }],
    ["a row outside", { rows: [[2, 0, 0, "a"]] }],
    ["an unknown style", { rows: [[0, 0, 1, "a"]] }],
    ["half a pair", { rows: [[0, 0, 0]] }],
    ["half a wide character", { rows: [[0, 0, 0, [2, "漢"]], [0, 1, 0, "a"]] }],
    ["blanks past the end", { rows: [[0, 0, 0, 5]] }],
    ["an empty cluster", { rows: [[0, 0, 0, [1, ""]]] }],
    ["a scroll outside", { scroll: [0, 2, 1] }],
    ["a scroll upside down", { scroll: [1, 0, 1] }],
    ["a cursor outside", { cursor: [4, 0, 1] }],
    ["styles out of order", { styles: [[1, 1, 0]], stylesFrom: 2 }],
    ["a link nobody sent", { styles: [[1, 1, 0, -1, 7]], stylesFrom: 1 }],
  ];
  for (const [why, fields] of bad) {
    const picture = Picture.of(snapshot);
    const frame = overTheWire({ type: "patch", seq: 2, ...fields }) as Patch;
    assert.throws(() => picture.apply(frame), FrameRefused, why);
  }
});

Deno.test("a server frame with a control character, a bad colour or no sense is not one", () => {
  const bad = [
    { ...snapshot, grid: [[0, "a\u001b[2J"]] },
    { ...snapshot, title: "x\u0007" },
    { ...snapshot, grid: [[0, [2, "\u0085"]]] },
    { ...snapshot, grid: [[0, "\ud800"]] },
    { ...snapshot, styles: [[0x2000000, -1, 0]] },
    { ...snapshot, styles: [[-2, -1, 0]] },
    { ...snapshot, links: [[1, "https://a\u001b\\"]] },
    { ...snapshot, cols: 1025 },
    { ...snapshot, grid: [[0, [3, "a"]]] },
    { type: "exit", code: 256 },
    { type: "hello" },
  ];
  for (const frame of bad) assert.equal(decodeServerFrame(JSON.stringify(frame)), null);
  assert.equal(decodeServerFrame("{"), null);
});

Deno.test("client frames: what the interface lists passes, all else is null", () => {
  const good = [
    '{"type":"init","cols":1,"rows":1}',
    '{"type":"init","cols":1024,"rows":512}',
    '{"type":"resize","cols":80,"rows":24}',
    '{"type":"ack","seq":0}',
    '{"type":"resync"}',
    JSON.stringify({ type: "input", data: "é".repeat(128 * 1024) }),
    JSON.stringify({ type: "input", data: "\u0001".repeat(256 * 1024) }),
  ];
  for (const text of good) assert.notEqual(decodeClientFrame(text), null, text.slice(0, 60));
  const bad = [
    '{"type":"init","cols":0,"rows":1}',
    '{"type":"init","cols":1025,"rows":1}',
    '{"type":"init","cols":1,"rows":513}',
    '{"type":"init","cols":1.5,"rows":1}',
    '{"type":"init","cols":"80","rows":24}',
    '{"type":"ack","seq":-1}',
    '{"type":"ack","seq":0.5}',
    '{"type":"input"}',
    '{"type":"input","data":7}',
    '{"type":"nothing"}',
    "[]",
    "null",
    "",
    "{",
    JSON.stringify({ type: "input", data: "é".repeat(128 * 1024) + "a" }),
    JSON.stringify({ type: "input", data: "a".repeat(256 * 1024 + 1) }),
  ];
  for (const text of bad) assert.equal(decodeClientFrame(text), null, text.slice(0, 60));
});
