/** Which cells of a row differ, in stretches worth one cursor movement each. */
import { cell, type Line } from "./grid.ts";

const gapCostMax = 10;
const styleChangeCost = 6;

/** Where two rows differ, as `[from, to)`; near spans are one when the gap costs less than a new one. */
export function* changedSpans(old: Line, now: Line): Generator<[number, number]> {
  const cols = now.codes.length;
  const differs = (x: number) => old.codes[x] !== now.codes[x] || old.styles[x] !== now.styles[x];
  let x = 0;
  while (x < cols) {
    while (x < cols && !differs(x)) x++;
    if (x === cols) return;
    const from = x;
    let to = x + 1;
    let gapCost = 0;
    for (x = to; x < cols && gapCost <= gapCostMax; x++) {
      if (differs(x)) {
        to = x + 1;
        gapCost = 0;
      } else gapCost += 1 + (now.styles[x] === now.styles[x - 1] ? 0 : styleChangeCost);
    }
    x = to;
    yield wholeCells(now, from, to);
    // Widening may have taken in the second half that follows.
    while (x < cols && now.codes[x]! & cell.secondHalf) x++;
  }
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
