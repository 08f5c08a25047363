import assert from "node:assert/strict";
import { doubleWidthRanges, zeroWidthRanges } from "../../ship/terminal/width_table.ts";
import { widthOf } from "../../ship/terminal/widths.ts";
import { sessionName, TmuxFixture } from "./terminal_fixture.ts";

/** Both ends of every range of the table, and their neighbours. */
function boundaries(): number[] {
  const points = new Set<number>();
  for (const ranges of [zeroWidthRanges, doubleWidthRanges]) {
    const numbers = ranges.split(" ").map((digits) => parseInt(digits, 36));
    let next = 0;
    for (let i = 0; i < numbers.length; i += 2) {
      const start = next + numbers[i]!;
      next = start + numbers[i + 1]!;
      for (const point of [start - 1, start, next - 1, next]) points.add(point);
    }
  }
  const printable = (point: number) =>
    point >= 0xa0 && point < 0x110000 && (point < 0xd800 || point >= 0xe000);
  return [...points].filter(printable).sort((a, b) => a - b);
}

Deno.test("characters are as wide as the installed tmux has them", async () => {
  await using tmux = await TmuxFixture.start();
  const points = boundaries();
  assert.ok(points.length > 1000);
  // Each at the start of a row with a mark in the third column: what stands between tells the width.
  const text = points.map((point) => `${String.fromCodePoint(point)}\x1b[3G|`).join("\r\n");
  await Deno.writeTextFile(`${tmux.folder}/text`, text);
  const name = sessionName("c");
  // The rows must still be in the history when they are looked at; it is as long as a new window's.
  await tmux.session(sessionName("0"), "sleep 60");
  await tmux.tmux("set-option", "-g", "history-limit", "5000");
  await tmux.session(name, `stty raw; cat ${tmux.folder}/text; sleep 60`);
  let widths: Array<number | null> = [];
  for (let attempt = 0; attempt < 40 && widths.length < points.length; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const lines = (await tmux.tmux("capture-pane", "-p", "-S", "-", "-t", name)).split("\n");
    widths = lines.filter((line) => line.includes("|")).map(widthShown);
  }
  assert.equal(widths.length, points.length);
  const wrong = points.filter((point, row) =>
    widths[row] !== null && widths[row] !== widthOf(point)
  );
  assert.deepEqual(wrong.map((point) => point.toString(16)), []);
  assert.ok(widths.filter((width) => width === 2).length > 100);
});

/** The width told by a row; null when the character is not there: tmux drops what it does not know. */
function widthShown(row: string): number | null {
  if (row === "  |") return null;
  return row.endsWith(" |") ? 1 : 2;
}
