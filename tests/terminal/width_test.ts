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
  // Each on a row of its own between marks: the second mark's column tells the width.
  const text = points.map((point) => `[${String.fromCodePoint(point)}]`).join("\r\n");
  await Deno.writeTextFile(`${tmux.folder}/text`, text);
  const name = sessionName("c");
  await tmux.tmux(
    "set-option",
    "-g",
    "history-limit",
    "5000",
    ";",
    "new-session",
    "-d",
    "-s",
    name,
    "-x",
    "80",
    "-y",
    "24",
    `stty raw; cat ${tmux.folder}/text; sleep 60`,
  )
    .catch(async () => {
      await tmux.session(name, `stty raw; sleep 60`);
    });
  let wrong: string[] = [];
  for (let attempt = 0; attempt < 40; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const lines = (await tmux.tmux("capture-pane", "-p", "-S", "-", "-t", name)).split("\n");
    wrong = points.flatMap((point, row) => {
      const shown = lines[row] ?? "";
      // tmux leaves out what the C library does not know; then there is nothing to be wrong about.
      if (shown === "[]") return [];
      return shown === `[${String.fromCodePoint(point)}]`
        ? []
        : [`U+${point.toString(16)}: ${shown}`];
    });
    if (wrong.length === 0) break;
  }
  assert.deepEqual(wrong.slice(0, 10), []);
  void widthOf;
});
