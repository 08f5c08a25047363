/** How many terminal columns a text takes: names may hold any script, and tables must still align. */

/**
 * Code points that terminals draw two columns wide: East Asian Width W and F (UAX #11), as ranges
 * rounded to blocks; emoji are found by their property.
 */
const wideRanges: ReadonlyArray<readonly [number, number]> = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18cff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
];
const emoji = /\p{Emoji_Presentation}|\ufe0f/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Columns of `text` on a terminal; control characters must have been spelled out before. */
export function displayWidth(text: string): number {
  // The common case costs nothing.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(segment: string): number {
  const point = segment.codePointAt(0) ?? 0;
  if (emoji.test(segment)) return 2;
  if (invisible.test(segment)) return 0;
  return wideRanges.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}

/** `text` filled with spaces to `columns`. */
export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
}

/** `text` cut to `columns`, with `…` when something was left out. */
export function cutTo(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = graphemeWidth(segment);
    if (width + next > columns - 1) break;
    kept += segment;
    width += next;
  }
  return `${kept}…`;
}
