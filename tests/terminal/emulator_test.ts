import assert from "node:assert/strict";
import { AnsiPainter } from "../../shared/terminal/ansi.ts";
import { Grid, gridDifference } from "../../shared/terminal/grid.ts";
import { flag } from "../../shared/terminal/protocol.ts";
import { Emulator } from "../../ship/terminal/emulator.ts";
import { sleep } from "../support/listen_support.ts";
import { corpus } from "./corpus.ts";
import type { Entry } from "./corpus/bytes.ts";
import { assertPublicCells, publicDifference } from "./public_cells.ts";
import { below, changedGrid, randomGrid, seeded } from "./random_grid.ts";

const encoder = new TextEncoder();

Deno.test("what the painter writes, a terminal shows", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seeded(seed);
    const cols = 2 + below(random, 90);
    const rows = 1 + below(random, 30);
    using emulator = new Emulator(cols, rows, () => {});
    const read = new Grid(cols, rows);
    const painter = new AnsiPainter();
    let now = randomGrid(random, cols, rows);
    for (let step = 0; step < 10; step++) {
      emulator.write(encoder.encode(painter.paint(now)));
      emulator.read(read);
      assert.equal(gridDifference(read, now), null, `seed ${seed}, step ${step}`);
      assertPublicCells(emulator, read);
      now = random() < 0.1 ? randomGrid(random, cols, rows) : changedGrid(random, now);
    }
  }
});

Deno.test("over the corpus the cells read are the library's public ones", () => {
  for (const [what, bytes] of corpus) {
    for (const [cols, rows] of [[80, 24], [7, 3], [1, 1]] as const) {
      using emulator = new Emulator(cols, rows, () => {});
      emulator.write(typeof bytes === "string" ? encoder.encode(bytes) : bytes);
      const grid = new Grid(cols, rows);
      emulator.read(grid);
      for (const line of grid.lines) assert.ok(line.isWhole(), what);
      const difference = publicDifference(emulator, grid);
      assert.equal(difference, null, `${what} at ${cols}x${rows}`);
    }
  }
});

Deno.test("bytes mean the same wherever they are cut", () => {
  const punctuation: Entry = [
    "general punctuation",
    "“a” – — … ‧ e\u0301 👩\u200d🚀 漢\u0080\u0800 \u{10000}",
  ];
  for (const [what, bytes] of [...corpus, punctuation]) {
    const whole = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
    const [cols, rows] = [80, 24];
    const [atOnce, singly] = [new Grid(cols, rows), new Grid(cols, rows)];
    using one = new Emulator(cols, rows, () => {});
    using other = new Emulator(cols, rows, () => {});
    one.write(whole);
    for (let at = 0; at < whole.length; at++) other.write(whole.subarray(at, at + 1));
    one.read(atOnce);
    other.read(singly);
    assert.equal(gridDifference(singly, atOnce), null, what);
  }
});

Deno.test("modes that were forgotten are taken back all the same", () => {
  for (const tracking of ["9", "1000", "1002", "1003"]) {
    using emulator = new Emulator(20, 3, () => {});
    const read = new Grid(20, 3);
    const now = new Grid(20, 3);
    emulator.write(
      encoder.encode(`\x1b[?${tracking};1006;2004;1004;1h\x1b=\x1b[?25l`),
    );
    const painter = new AnsiPainter();
    emulator.write(encoder.encode(painter.paint(now)));
    emulator.read(read);
    assert.equal(gridDifference(read, now), null, "a first picture");
    now.modes = 0xff & ~0x70 | 3 << 4;
    emulator.write(encoder.encode(painter.paint(now)));
    painter.forget();
    now.modes = 0;
    emulator.write(encoder.encode(painter.paint(now)));
    emulator.read(read);
    assert.equal(gridDifference(read, now), null, "a picture after forgetting");
    now.modes = 0xff & ~0x70 | 3 << 4;
    emulator.write(encoder.encode(painter.paint(now)));
    painter.forget();
    emulator.write(encoder.encode(painter.leave()));
    emulator.read(read);
    assert.equal(read.modes, 0, "leaving after forgetting");
  }
});

Deno.test("one typed character is painted in a handful of bytes", () => {
  const before = randomGrid(seeded(3), 80, 24);
  before.cursor = { x: 5, y: 5, visible: true, shape: null, blink: false };
  before.line(5).clear();
  const painter = new AnsiPainter();
  painter.paint(before);
  const after = changedGrid(() => 0.99, before);
  after.copyFrom(before);
  after.line(5).codes[5] = 0x61;
  after.cursor.x = 6;
  assert.equal(painter.paint(after), "a");
});

Deno.test("garbage of every kind leaves a readable screen", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = seeded(seed);
    using emulator = new Emulator(40, 12, () => {});
    const grid = new Grid(40, 12);
    for (let round = 0; round < 20; round++) {
      const bytes = Uint8Array.from({ length: 200 }, () => {
        const kind = random();
        if (kind < 0.2) return 0x1b;
        return kind < 0.5 ? 0x30 + below(random, 0x4f) : below(random, 256);
      });
      emulator.write(bytes);
      emulator.read(grid);
      for (const line of grid.lines) assert.ok(line.isWhole(), `seed ${seed}`);
    }
  }
});

Deno.test("links, underlines and cursor looks are read", () => {
  using emulator = new Emulator(20, 2, () => {});
  const grid = new Grid(20, 2);
  emulator.write(encoder.encode(
    "\x1b]8;;https://a.example/\x1b\\L\x1b]8;;\x1b\\\x1b[4:3;58:5:9mU\x1b[m\x1b[5 q",
  ));
  emulator.read(grid);
  const styleAt = (x: number) => grid.inks.styleAt(grid.line(0).styles[x]!);
  assert.equal(grid.inks.links[styleAt(0).link], "https://a.example/");
  assert.equal(styleAt(0).flags, 0);
  assert.equal(styleAt(1).flags >> flag.underlineShift, 3);
  assert.equal(styleAt(1).underlineColor, 9);
  assert.deepEqual(grid.cursor, { x: 2, y: 0, visible: true, shape: 2, blink: true });
});

Deno.test("one column is one column, whatever stands or comes in it", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seeded(seed);
    using emulator = new Emulator(below(random, 4) + 1, below(random, 4) + 1, () => {});
    const what = [
      ...["漢字漢字漢字", "漢字漢\r\na\r\nb", "\x1b[4h漢", "\x1b[2P", "\x1b[@", "\t\b", "e\u0301"],
    ];
    for (let round = 0; round < 30; round++) {
      const screen = ["", "\x1b[?1049h", "\x1b[?1049l"][below(random, 3)]!;
      const place = `\x1b[${below(random, 6)};${below(random, 4)}H`;
      emulator.write(encoder.encode(screen + place + what[below(random, what.length)]));
      const [cols, rows] = [random() < 0.5 ? 1 : 1 + below(random, 30), 1 + below(random, 6)];
      if (random() < 0.5) emulator.resize(cols, rows);
      const grid = new Grid(emulator.terminal.cols, emulator.terminal.rows);
      emulator.read(grid);
      assertPublicCells(emulator, grid);
    }
    emulator.resize(1, 3);
    emulator.write(encoder.encode("\x1b[2J\x1b[Habc"));
    const grid = new Grid(1, 3);
    emulator.read(grid);
    assert.deepEqual([0, 1, 2].map((y) => grid.text(y)), ["a", "b", "c"], `seed ${seed}`);
  }
  // The library tidies up behind a resize when it has time.
  await sleep(50);
});

Deno.test("what tmux draws otherwise than terminals show is told, once", () => {
  using emulator = new Emulator(20, 10, () => {});
  for (
    const [bytes, strayed] of [
      ["\x1b[3;6r\x1b[4H\x1b[2L\x1b[6H\x1b[M", false],
      ["\x1b[2H\x1b[L", true],
      ["\x1b[7H\x1b[2M\x1b[4H\x1b[L", true],
      ["\x1b[r\x1b[9H\x1b[M", false],
      ["\x1b[5Hab漢c\x1b[5;2H\x1b[K", false],
      ["\x1b[5Hab漢c\x1b[5;3H\x1b[K", true],
      ["\x1b[6H\x1b[Hé\x1b[2X\x1b[2Ha\x1b[1K", false],
      ["\x1b[6He\u0301 x\x1b[1K", true],
    ] as const
  ) {
    emulator.write(encoder.encode(bytes));
    assert.equal(emulator.takeStrayed(), strayed, JSON.stringify(bytes));
    assert.equal(emulator.takeStrayed(), false);
  }
});
