/** Finds the one shift of rows that explains most of what changed between two screens. */
import type { Grid } from "./grid.ts";

/** `[top, bottom, n]`: rows top to bottom move up by n, down when n is negative. */
export type Scroll = [top: number, bottom: number, count: number];

/** A shift that saves fewer rows than this is not worth saying. */
const rowsSavedMin = 2;

/**
 * Hashes the rows that changed, lets each vote for the shift that would have brought it there, and
 * takes the winner when it saves rows. Both grids have the same size and inks.
 */
export function findScroll(from: Grid, to: Grid): Scroll | null {
  const changed: number[] = [];
  for (let y = 0; y < to.rows; y++) if (!from.line(y).equals(to.line(y))) changed.push(y);
  if (changed.length < rowsSavedMin) return null;
  const first = changed[0]!;
  const last = changed[changed.length - 1]!;
  const shift = winningShift(from, to, changed);
  if (shift === 0) return null;
  return worthwhile(from, to, regionOf(from, to, { first, last, shift }));
}

/** Rows that did not change neither came from elsewhere nor went there, but by chance. */
function winningShift(from: Grid, to: Grid, changed: readonly number[]): number {
  const places = new Map<number, number[]>();
  for (const y of changed) {
    const line = from.line(y);
    if (line.isBlank()) continue;
    const hash = line.hash();
    const same = places.get(hash);
    if (same === undefined) places.set(hash, [y]);
    else if (same.length < 4) same.push(y);
  }
  const votes = new Map<number, number>();
  for (const y of changed) {
    const line = to.line(y);
    if (line.isBlank()) continue;
    for (const place of places.get(line.hash()) ?? []) {
      if (place !== y) votes.set(place - y, (votes.get(place - y) ?? 0) + 1);
    }
  }
  let best = 0;
  let bestVotes = rowsSavedMin - 1;
  for (const [shift, count] of votes) {
    if (count > bestVotes || (count === bestVotes && Math.abs(shift) < Math.abs(best))) {
      best = shift;
      bestVotes = count;
    }
  }
  return best;
}

function regionOf(
  from: Grid,
  to: Grid,
  { first, last, shift }: { first: number; last: number; shift: number },
): Scroll | null {
  let top = -1;
  let bottom = -1;
  for (let y = first; y <= last; y++) {
    const source = y + shift;
    if (source < first || source > last || to.line(y).isBlank()) continue;
    if (!from.line(source).equals(to.line(y))) continue;
    if (top === -1) top = y;
    bottom = y;
  }
  if (top === -1) return null;
  return shift > 0 ? [top, bottom + shift, shift] : [top + shift, bottom, shift];
}

function worthwhile(from: Grid, to: Grid, scroll: Scroll | null): Scroll | null {
  if (scroll === null) return null;
  const [top, bottom, count] = scroll;
  let saved = 0;
  for (let y = top; y <= bottom; y++) {
    const source = y + count;
    const now = to.line(y);
    const before = from.line(y).equals(now);
    const after = source >= top && source <= bottom ? from.line(source).equals(now) : now.isBlank();
    saved += Number(after) - Number(before);
  }
  return saved >= rowsSavedMin ? scroll : null;
}
