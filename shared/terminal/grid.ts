/**
 * A screen as cells. A cell is two numbers: what stands in it and the index of its style. Strings
 * (clusters, links) and styles are interned in `Inks`, so that comparing two screens compares numbers.
 */
import { cell, Inks } from "./inks.ts";

/** One row; both arrays have one element per column. */
export class Line {
  readonly codes: Uint32Array;
  readonly styles: Uint32Array;
  constructor(cols: number) {
    this.codes = new Uint32Array(cols).fill(cell.blank);
    this.styles = new Uint32Array(cols);
  }
  clear(): void {
    this.codes.fill(cell.blank);
    this.styles.fill(0);
  }
  copyFrom(other: Line): void {
    this.codes.set(other.codes);
    this.styles.set(other.styles);
  }
  equals(other: Line): boolean {
    const { codes, styles } = this;
    for (let x = 0; x < codes.length; x++) {
      if (codes[x] !== other.codes[x] || styles[x] !== other.styles[x]) return false;
    }
    return true;
  }
  isBlank(): boolean {
    const { codes, styles } = this;
    for (let x = 0; x < codes.length; x++) {
      if (codes[x] !== cell.blank || styles[x] !== 0) return false;
    }
    return true;
  }
  /** FNV-1a over both arrays: equal lines of the same inks hash alike. */
  hash(): number {
    const { codes, styles } = this;
    let hash = 0x811c9dc5;
    for (let x = 0; x < codes.length; x++) {
      hash = Math.imul(hash ^ codes[x]!, 0x01000193);
      hash = Math.imul(hash ^ styles[x]!, 0x01000193);
    }
    return hash;
  }
  /** Whether every second half follows its wide cell and every wide cell has its second half. */
  isWhole(): boolean {
    let owed = false;
    for (const code of this.codes) {
      if (owed !== ((code & cell.secondHalf) !== 0)) return false;
      owed = (code & cell.wide) !== 0;
    }
    return !owed;
  }
}

export interface Cursor {
  x: number;
  y: number;
  visible: boolean;
  /** 0 block, 1 underline, 2 bar; null: the user's own. */
  shape: number | null;
  blink: boolean;
}

/** A screen of `cols` × `rows` cells with its cursor, modes and title. */
export class Grid {
  readonly lines: Line[];
  cursor: Cursor = { x: 0, y: 0, visible: true, shape: null, blink: false };
  modes = 0;
  title = "";

  constructor(readonly cols: number, readonly rows: number, readonly inks: Inks = new Inks()) {
    this.lines = Array.from({ length: rows }, () => new Line(cols));
  }

  line(y: number): Line {
    const line = this.lines[y];
    if (line === undefined) throw new Error(`row ${y} of a grid of ${this.rows}`);
    return line;
  }

  /** Rows top to bottom move up by `count` (down when negative); the exposed rows turn blank. */
  scroll(top: number, bottom: number, count: number): void {
    const moved = this.lines.splice(top, bottom - top + 1);
    const shift = Math.min(Math.abs(count), moved.length);
    const exposed = count > 0 ? moved.splice(0, shift) : moved.splice(moved.length - shift, shift);
    for (const line of exposed) line.clear();
    this.lines.splice(top, 0, ...(count > 0 ? [...moved, ...exposed] : [...exposed, ...moved]));
  }

  /** Takes over everything but the size, which must be the same, and the inks, which are shared. */
  copyFrom(other: Grid): void {
    this.lines.forEach((line, y) => line.copyFrom(other.line(y)));
    this.cursor = { ...other.cursor };
    this.modes = other.modes;
    this.title = other.title;
  }

  /** The text of row `y`, without the blanks at its end unless `keepEnd`. */
  text(y: number, keepEnd = false): string {
    let text = "";
    for (const code of this.line(y).codes) text += this.inks.text(code);
    return keepEnd ? text : text.trimEnd();
  }
}

export function sameCursor(a: Cursor, b: Cursor): boolean {
  return a.x === b.x && a.y === b.y && a.visible === b.visible && a.shape === b.shape &&
    a.blink === b.blink;
}

/** The first difference between two screens of any inks, in words, or null when they show the same. */
export function gridDifference(a: Grid, b: Grid): string | null {
  if (a.cols !== b.cols || a.rows !== b.rows) {
    return `${a.cols}x${a.rows} is not ${b.cols}x${b.rows}`;
  }
  for (let y = 0; y < a.rows; y++) {
    for (let x = 0; x < a.cols; x++) {
      const mine = cellOf(a, x, y);
      const theirs = cellOf(b, x, y);
      if (mine !== theirs) return `cell ${x},${y}: ${mine} is not ${theirs}`;
    }
  }
  if (!sameCursor(a.cursor, b.cursor)) {
    return `cursor ${JSON.stringify(a.cursor)} is not ${JSON.stringify(b.cursor)}`;
  }
  if (a.modes !== b.modes) return `modes ${a.modes} is not ${b.modes}`;
  return a.title === b.title ? null : `title ${a.title} is not ${b.title}`;
}

function cellOf(grid: Grid, x: number, y: number): string {
  const line = grid.line(y);
  const code = line.codes[x]!;
  const style = grid.inks.styleAt(line.styles[x]!);
  return JSON.stringify([
    grid.inks.text(code),
    code & cell.wide ? 2 : code & cell.secondHalf ? 0 : 1,
    { ...style, link: grid.inks.links[style.link] },
  ]);
}
