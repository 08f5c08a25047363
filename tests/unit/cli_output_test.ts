import assert from "node:assert/strict";
import { cutTo, displayWidth } from "../../bridge/cli/display_width.ts";
import {
  bytesText,
  count,
  displayLines,
  durationText,
  painter,
  table,
} from "../../bridge/cli/output.ts";
import { ProgressLine, progressLine } from "../../bridge/cli/progress.ts";

const plain = { paint: painter(false), columns: Infinity };

Deno.test("output: widths of wide, combining and emoji characters", () => {
  for (
    const [text, width] of [
      ["abc", 3],
      ["日本", 4],
      ["한글", 4],
      ["e\u0301", 1],
      ["🚀", 2],
      ["👩‍💻", 2],
      ["ﾊﾝ", 2],
      ["é", 1],
    ] as const
  ) assert.equal(displayWidth(text), width, text);
  assert.equal(cutTo("日本語", 5), "日本…");
  assert.equal(cutTo("abc", 3), "abc");
});

Deno.test("output: columns align by width, the last is cut to the terminal", () => {
  const text = table(["NAME", "X"], [["日本", "1"], ["abcdef", "2"]], plain);
  assert.equal(text, "NAME    X\n日本    1\nabcdef  2\n");
  const cut = table(["A", "B"], [["a", "x".repeat(50)]], { ...plain, columns: 20 });
  assert.ok(cut.split("\n").every((line) => displayWidth(line) <= 20), cut);
});

Deno.test("output: control and bidirectional characters never reach the terminal", () => {
  const evil = "a\x1b[31mb\u202ec\nd";
  assert.equal(table(["N"], [[evil]], plain), "N\na\\u001b[31mb\\u202ec\\u000ad\n");
  assert.equal(displayLines("+\tx\x1b]0;t\x07\n-y\n"), "+\tx\\u001b]0;t\\u0007\n-y\n");
});

Deno.test("output: colour only when asked for, and none of it counts as width", () => {
  const cells = [[{ text: "on", colour: "green" as const }, "x"]];
  const coloured = table(["AAAA", "B"], cells, { paint: painter(true), columns: 80 });
  assert.ok(coloured.includes("\x1b[32mon\x1b[0m    x"));
  assert.ok(!table(["AAAA", "B"], cells, plain).includes("\x1b"));
});

Deno.test("output: figures in words", () => {
  assert.equal(bytesText(512), "512 B");
  assert.equal(bytesText(3.5 * 1024 ** 3), "3.5 GiB");
  assert.equal(durationText(59), "59 s");
  assert.equal(durationText(93_600), "1 d 2 h");
  assert.equal(count(1, "branch"), "1 branch");
  assert.equal(count(2, "branch"), "2 branches");
});

Deno.test("progress: a bar within the terminal, erased when done", () => {
  assert.match(
    progressLine({ phase: "Receiving objects", percent: 50, done: 5, total: 10 }),
    /^Receiving objects █{12}░{12} {2}50 % 5\/10$/,
  );
  assert.equal(
    progressLine({ phase: "Counting objects", percent: null, done: 7, total: null }),
    "Counting objects 7 objects",
  );
  let written = "";
  {
    using line = new ProgressLine((text) => written += text, 30);
    line.show({ phase: "Receiving objects", percent: 50, done: 5, total: 10 });
  }
  const [, drawn = "", after] = written.split("\r\x1b[2K");
  assert.ok(displayWidth(drawn) < 30);
  assert.equal(after, "");
});
