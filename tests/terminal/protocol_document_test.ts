import assert from "node:assert/strict";
import { Picture } from "../../shared/terminal/apply.ts";
import { FrameEncoder } from "../../shared/terminal/diff.ts";
import { Grid, gridDifference } from "../../shared/terminal/grid.ts";
import { decodeClientFrame, decodeServerFrame } from "../../shared/terminal/protocol.ts";
import { Emulator } from "../../ship/terminal/emulator.ts";
import { NoticeWatch } from "../../ship/terminal/notices.ts";

const document = await Deno.readTextFile(new URL("../../docs/PROTOCOL.md", import.meta.url));

function samples(kind: string): string[] {
  const blocks = document.matchAll(new RegExp("```" + kind + "\n([^`]*)```", "g"));
  return [...blocks].flatMap(([, lines = ""]) => lines.trim().split("\n"));
}

Deno.test("the document's client samples are frames in their plain form", () => {
  const lines = samples("terminal-client");
  assert.equal(lines.length, 5);
  for (const line of lines) assert.equal(JSON.stringify(decodeClientFrame(line)), line);
});

Deno.test("the document's server samples are what the code sends and what a client understands", () => {
  using emulator = new Emulator(20, 5, () => {});
  const grid = new Grid(20, 5);
  const encoder = new FrameEncoder();
  const steps = [
    "\x1b]2;shell\x1b\\$ \x1b[1;31mred\x1b[m 漢e\u0301",
    "\r\n\x1b]8;;https://example.org/\x1b\\\x1b[4mls\x1b[m\x1b]8;;\x1b\\\r\none\r\ntwo\r\nthree",
    "\r\nfour",
    "\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b[5 q",
    "\x07\x1b]52;c;Y29waWVkCg==\x07",
  ];
  const watch = new NoticeWatch(emulator.terminal);
  const sent: string[] = [];
  let picture: Picture | null = null;
  for (const bytes of steps) {
    emulator.write(new TextEncoder().encode(bytes));
    emulator.read(grid);
    const notices = watch.take();
    const encoded = encoder.needsSnapshot(grid)
      ? encoder.snapshot(grid, notices)
      : encoder.patch(grid, notices)!;
    const text = JSON.stringify(encoded.frame);
    sent.push(text);
    const frame = decodeServerFrame(text);
    if (frame?.type === "snapshot") picture = Picture.of(frame);
    else if (frame?.type === "patch") picture!.apply(frame);
    assert.equal(gridDifference(picture!.grid, grid), null);
  }
  assert.deepEqual(picture?.grid.text(4), "four");
  sent.push('{"type":"exit","code":0}');
  assert.deepEqual(samples("terminal-server"), sent);
});
