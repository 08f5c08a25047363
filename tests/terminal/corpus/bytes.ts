/** How the corpus writes what it writes. */

/** What it is about, and the bytes. */
export type Entry = readonly [what: string, bytes: string | Uint8Array];

export const csi = "\x1b[";
export const osc = "\x1b]";
/** String terminator. */
export const st = "\x1b\\";

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Moves to column `x` of row `y`, both from 1. */
export const at = (x: number, y: number): string => `${csi}${y};${x}H`;

/** Twenty numbered rows of text, for what inserts, deletes and scrolls. */
export const page: string = range(1, 20)
  .map((n) => `${at(1, n)}${"abcdefghij".repeat(4)}${n}`).join("");
