/** Which cells of a row differ, in stretches worth one cursor movement each. */
import type { Line } from "./grid.ts";
import { cell } from "./inks.ts";

/** What the bytes of a span cost, so that a near span is joined to the one before it when that is cheaper. */
export interface SpanCost {
  /** A gap of unchanged cells is written again up to this cost: one for a cell, and for a change of style… */
  readonly gapCostMax: number;
  /** …so much. */
  readonly styleChangeCost: number;
  /** Whether spans grow to whole words. */
  readonly wholeWords: boolean;
}

/** What has no blanks for longer than this is no word. */
const wordCellsMax = 16;

/** Bytes that go out as they are. */
export const plainCost: SpanCost = { gapCostMax: 10, styleChangeCost: 6, wholeWords: false };

/**
 * Bytes that are deflated with what went before them in the window (RFC 7692): text that was seen lately is a
 * match of two or three bytes however long it is, and a word's fragment is none. Measured over a program like
 * htop: a fifth fewer bytes than with `plainCost`.
 */
export const deflatedCost: SpanCost = { gapCostMax: 30, styleChangeCost: 6, wholeWords: true };

/** Where two rows differ, as `[from, to)`. */
export function* changedSpans(old: Line, now: Line, cost: SpanCost): Generator<[number, number]> {
  const cols = now.codes.length;
  const differs = (x: number) => old.codes[x] !== now.codes[x] || old.styles[x] !== now.styles[x];
  let x = 0;
  while (x < cols) {
    while (x < cols && !differs(x)) x++;
    if (x === cols) return;
    const from = x;
    let to = x + 1;
    let gapCost = 0;
    for (x = to; x < cols && gapCost <= cost.gapCostMax; x++) {
      if (differs(x)) {
        to = x + 1;
        gapCost = 0;
      } else gapCost += 1 + (now.styles[x] === now.styles[x - 1] ? 0 : cost.styleChangeCost);
    }
    const grown: [number, number] = cost.wholeWords ? wholeWords(now, from, to) : [from, to];
    const span = wholeCells(now, ...grown);
    yield span;
    x = span[1];
  }
}

/** A span that grows over the words in which it begins and ends; a word has one style. */
function wholeWords(line: Line, from: number, to: number): [number, number] {
  const { codes, styles } = line;
  const isLetter = (x: number, style: number) => codes[x] !== cell.blank && styles[x] === style;
  const [first, last] = [styles[from]!, styles[to - 1]!];
  const fromMin = Math.max(0, from - wordCellsMax);
  const toMax = Math.min(codes.length, to + wordCellsMax);
  while (from > fromMin && isLetter(from - 1, first)) from--;
  while (to < toMax && isLetter(to, last)) to++;
  return [from, to];
}

/** A span that neither begins with a second half nor ends between two halves. */
function wholeCells(line: Line, from: number, to: number): [number, number] {
  if (line.codes[from]! & cell.secondHalf) from--;
  if (line.codes[to - 1]! & cell.wide) to++;
  return [from, to];
}

/** Where the blanks in the default style begin that end the row. */
export function endOfContent(line: Line): number {
  let end = line.codes.length;
  while (end > 0 && line.codes[end - 1] === cell.blank && line.styles[end - 1] === 0) end--;
  return end;
}
