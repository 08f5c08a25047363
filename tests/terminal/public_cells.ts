/** The emulator library's public cells against the grid that was read from its inside. */
import assert from "node:assert/strict";
import type { Grid } from "../../shared/terminal/grid.ts";
import { cell } from "../../shared/terminal/inks.ts";
import { flag } from "../../shared/terminal/protocol.ts";
import type { Emulator } from "../../ship/terminal/emulator.ts";

type PublicLine = NonNullable<
  ReturnType<Emulator["terminal"]["buffer"]["active"]["getLine"]>
>;
type PublicCell = NonNullable<ReturnType<PublicLine["getCell"]>>;

/** Fails at the first cell that the public API tells otherwise than `grid`. */
export function assertPublicCells(emulator: Emulator, grid: Grid): void {
  assert.equal(publicDifference(emulator, grid), null);
}

/** The first cell that the public API tells otherwise than `grid`, in words, or null. */
export function publicDifference(
  emulator: Emulator,
  grid: Grid,
): string | null {
  const buffer = emulator.terminal.buffer.active;
  for (let y = 0; y < grid.rows; y++) {
    const line = buffer.getLine(buffer.baseY + y)!;
    for (let x = 0; x < grid.cols; x++) {
      const [mine, theirs] = [ours(grid, x, y), told(line, x, grid.cols)];
      // A link is underlined in the public API alone, whether or not a program asked for it.
      if (theirs !== mine.plain && !(mine.linked && theirs === mine.underlined)) {
        return `cell ${x},${y}: ${mine.plain} is publicly ${theirs}`;
      }
    }
  }
  return null;
}

function ours(grid: Grid, x: number, y: number) {
  const line = grid.line(y);
  const code = line.codes[x]!;
  const { fg, bg, flags, link } = grid.inks.styleAt(line.styles[x]!);
  const width = code & cell.wide ? 2 : code & cell.secondHalf ? 0 : 1;
  const told = (underline: boolean) =>
    `${grid.inks.text(code)} ${width} ${fg} ${bg} ${flags & 0xff} ${underline}`;
  return {
    plain: told(flags >> flag.underlineShift !== 0),
    underlined: told(true),
    linked: link !== 0,
  };
}

function told(line: PublicLine, x: number, cols: number): string {
  const at = line.getCell(x)!;
  // Half of a wide character whose other half is gone shows as nothing.
  const owner = x > 0 && line.getCell(x - 1)!.getWidth() === 2 ? line.getCell(x - 1)! : null;
  const second = at.getWidth() === 0;
  // Lines of the alternate screen keep what a narrower screen does not show.
  const next = x + 1 < cols ? line.getCell(x + 1) : undefined;
  const torn = second ? owner === null : at.getWidth() === 2 && next?.getWidth() !== 0;
  const looks = second && owner !== null ? owner : at;
  const text = torn ? " " : second ? "" : shownChars(at);
  const width = torn ? 1 : at.getWidth();
  return `${text} ${width} ${look(looks)}`;
}

/** A joiner that joins nothing shows nothing. */
const shownChars = (at: PublicCell) => at.getChars().replace(/\u200d+$/, "") || " ";

function look(at: PublicCell): string {
  const color = (rgb: boolean, value: number) => rgb ? 0x1000000 + value : value;
  const flags = (at.isBold() ? flag.bold : 0) | (at.isDim() ? flag.dim : 0) |
    (at.isItalic() ? flag.italic : 0) | (at.isBlink() ? flag.blink : 0) |
    (at.isInverse() ? flag.inverse : 0) |
    (at.isInvisible() ? flag.invisible : 0) |
    (at.isStrikethrough() ? flag.strikethrough : 0) |
    (at.isOverline() ? flag.overline : 0);
  const [fg, bg] = [color(at.isFgRGB(), at.getFgColor()), color(at.isBgRGB(), at.getBgColor())];
  return `${fg} ${bg} ${flags} ${Boolean(at.isUnderline())}`;
}
