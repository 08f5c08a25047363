import assert from "node:assert/strict";
import { ScreenFollower } from "../../shared/terminal/client.ts";
import { Screen } from "../../ship/terminal/screen.ts";

Deno.test("a screen whose every cell has its own colour is finished, again and again", async () => {
  const [cols, rows] = [400, 100];
  using screen = new Screen({ cols, rows }, () => {});
  const follower = new ScreenFollower();
  for (let round = 0; round < 4; round++) {
    let bytes = "\x1b[H";
    for (let i = 0; i < cols * rows; i++) {
      const value = i + round * cols * rows;
      bytes += `\x1b[38;2;${value >> 16 & 255};${value >> 8 & 255};${value & 255}m${round}`;
    }
    await screen.feed(new TextEncoder().encode(bytes), () => {});
    let more = true;
    let frames = 0;
    while (more) {
      const drawn = screen.draw(round === 0 && frames === 0 ? "snapshot" : "patch");
      if (drawn !== null) {
        assert.ok(drawn.text.length < 256 * 1024);
        assert.equal(follower.receive(drawn.text).kind, "screen");
      }
      more = drawn?.more ?? false;
      assert.ok(++frames < 60, "it never ends");
    }
    const grid = follower.grid!;
    for (let y = 0; y < rows; y++) assert.equal(grid.text(y), String(round).repeat(cols));
    const last = grid.inks.styleAt(grid.line(rows - 1).styles[cols - 1]!);
    assert.equal(last.fg, 0x1000000 + (round + 1) * cols * rows - 1);
  }
});
