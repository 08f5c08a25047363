/**
 * How wide the emulator takes a character to be: as tmux 3.3 does, or the two would disagree on where
 * the next one stands. tmux joins what has no width to the cell before it, and whatever follows a
 * zero width joiner, as long as the cell's bytes fit its fixed buffer.
 */
import type { IUnicodeVersionProvider } from "@xterm/headless";
import { doubleWidthRanges, zeroWidthRanges } from "./width_table.ts";

/** `UTF8_SIZE` of tmux 3.3. */
const cellBytesMax = 21;
const zeroWidthJoiner = 0x200d;

/** One byte per code point, filled on first use and shared by every terminal. */
let widths: Uint8Array | null = null;

/** Columns that tmux gives `codePoint`: 0, 1 or 2. */
export function widthOf(codePoint: number): 0 | 1 | 2 {
  if (codePoint >= 0x20 && codePoint < 0x7f) return 1;
  widths ??= widthTable();
  return (widths[codePoint] ?? 1) as 0 | 1 | 2;
}

function widthTable(): Uint8Array {
  const table = new Uint8Array(0x110000).fill(1);
  for (const [ranges, width] of [[zeroWidthRanges, 0], [doubleWidthRanges, 2]] as const) {
    const numbers = ranges.split(" ").map((digits) => parseInt(digits, 36));
    let next = 0;
    for (let i = 0; i < numbers.length; i += 2) {
      const start = next + numbers[i]!;
      next = start + numbers[i + 1]!;
      table.fill(width, start, next);
    }
  }
  return table;
}

const bytesOf = (codePoint: number) =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;

/**
 * The provider for `terminal.unicode`. A property is `state << 3 | width << 1 | join`; our state is the
 * bytes of the cell so far and, in its lowest bit, whether it ends in a joiner.
 */
export const tmuxWidths: IUnicodeVersionProvider = {
  version: "tmux",
  wcwidth: widthOf,
  charProperties(codePoint, preceding) {
    const width = widthOf(codePoint);
    const bytes = bytesOf(codePoint);
    const precedingWidth = preceding >> 1 & 3;
    const precedingState = preceding >> 3;
    const together = (precedingState >> 1) + bytes;
    const joins = precedingWidth > 0 && together <= cellBytesMax &&
      (width === 0 || ((precedingState & 1) === 1 && codePoint > 0x7f));
    if (!joins) return bytes << 4 | width << 1;
    return together << 4 | (codePoint === zeroWidthJoiner ? 1 << 3 : 0) | precedingWidth << 1 | 1;
  },
};
