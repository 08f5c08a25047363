/**
 * A screen as cells. A cell is two numbers: what stands in it and the index of its style. Strings
 * (clusters, links) and styles are interned in `Inks`, so that comparing two screens compares numbers.
 */
import { colorDefault } from "./protocol.ts";

export interface Style {
  readonly fg: number;
  readonly bg: number;
  readonly flags: number;
  readonly underlineColor: number;
  /** Index into the links of the same `Inks`; 0 is none. */
  readonly link: number;
}
export const plain: Style = {
  fg: colorDefault,
  bg: colorDefault,
  flags: 0,
  underlineColor: colorDefault,
  link: 0,
};

/** What a cell's code says besides a code point: two cells wide, an interned cluster, a second half. */
export const cell = {
  blank: 0x20,
  valueMask: 0xffffff,
  wide: 1 << 24,
  cluster: 1 << 25,
  secondHalf: 1 << 26,
} as const;

/** Styles, clusters and links by number. Style 0 is `plain`, link 0 none. */
export class Inks {
  readonly styles: Style[] = [plain];
  readonly clusters: string[] = [];
  readonly links: string[] = [""];
  readonly #styleOf = new Map<number, Map<string, number>>();
  readonly #clusterOf = new Map<string, number>();
  readonly #linkOf = new Map<string, number>([["", 0]]);

  constructor() {
    this.#bucket(plain).set(styleKey(plain), 0);
  }

  style(style: Style): number {
    const bucket = this.#bucket(style);
    const key = styleKey(style);
    const known = bucket.get(key);
    if (known !== undefined) return known;
    bucket.set(key, this.styles.length);
    return this.styles.push(style) - 1;
  }

  /** The code of a cell that holds `text`, one code point or a cluster, `width` 1 or 2. */
  code(text: string, width: number): number {
    const wide = width === 2 ? cell.wide : 0;
    const first = text.codePointAt(0) ?? cell.blank;
    if (text.length === (first > 0xffff ? 2 : 1)) return first | wide;
    let index = this.#clusterOf.get(text);
    if (index === undefined) {
      index = this.clusters.push(text) - 1;
      this.#clusterOf.set(text, index);
    }
    return index | cell.cluster | wide;
  }

  link(uri: string): number {
    const known = this.#linkOf.get(uri);
    if (known !== undefined) return known;
    this.#linkOf.set(uri, this.links.length);
    return this.links.push(uri) - 1;
  }

  /** What `code` shows; empty for the second half of a wide cell. */
  text(code: number): string {
    if (code & cell.secondHalf) return "";
    const value = code & cell.valueMask;
    return code & cell.cluster ? this.clusters[value] ?? " " : String.fromCodePoint(value);
  }

  /** How much is interned: what a holder with a long life bounds. */
  get size(): number {
    return Math.max(this.styles.length, this.clusters.length, this.links.length);
  }

  #bucket(style: Style): Map<string, number> {
    let bucket = this.#styleOf.get(style.fg);
    if (bucket === undefined) this.#styleOf.set(style.fg, bucket = new Map());
    return bucket;
  }
}

const styleKey = (style: Style) =>
  `${style.bg},${style.flags},${style.underlineColor},${style.link}`;

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
  const style = grid.inks.styles[line.styles[x]!]!;
  return JSON.stringify([
    grid.inks.text(code),
    code & cell.wide ? 2 : code & cell.secondHalf ? 0 : 1,
    { ...style, link: grid.inks.links[style.link] },
  ]);
}
