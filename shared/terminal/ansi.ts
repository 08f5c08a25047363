/**
 * Paints screens on a user's terminal with as few bytes as it can: relative movements, erasures,
 * scroll regions, changes of the pen. Assumes an xterm-like terminal in raw mode whose screen has the
 * size of the grid and which nobody else writes to.
 */
import { type Cursor, Grid, type Line } from "./grid.ts";
import { cell, Inks, plain, type Style } from "./inks.ts";
import { mode, mouseEncoding, mouseTracking } from "./protocol.ts";
import { findScroll, type Scroll } from "./scroll.ts";
import { sgrBetween } from "./sgr.ts";
import { changedSpans, endOfContent, plainCost } from "./spans.ts";

/** Interned things after which the painter starts afresh with a full redraw. */
const inksMax = 1 << 16;
const eraseBlanksMin = 10;

/** What one user's terminal shows, and the bytes that bring it to the next screen. */
export class AnsiPainter {
  #shown: Grid | null = null;

  /** The bytes that make the terminal show `grid`; the grid may change afterwards. */
  paint(grid: Grid): string {
    const shown = this.#shown;
    const fresh = shown === null || shown.cols !== grid.cols || shown.rows !== grid.rows ||
      shown.inks.size > inksMax;
    const from = fresh ? new Grid(grid.cols, grid.rows) : shown;
    const to = adopted(grid, from.inks);
    this.#shown = to;
    return (fresh ? "\x1b[!p\x1b[?7h\x1b[m\x1b[2J\x1b[H" : "") + paintBetween(from, to, fresh);
  }

  /** Forgets what the terminal shows: somebody else wrote to it. The next paint is a whole one. */
  forget(): void {
    this.#shown = null;
  }

  /** The bytes that give the terminal back as a shell expects it. */
  leave(): string {
    this.#shown = null;
    // Also when the picture was forgotten, and with it the modes.
    return `${modesBetween(~0, 0)}\x1b[m\x1b[r\x1b[0 q\x1b[?25h`;
  }
}

/** A copy of `grid` in terms of `inks`. */
function adopted(grid: Grid, inks: Inks): Grid {
  const copy = new Grid(grid.cols, grid.rows, inks);
  const styles = new Map<number, number>();
  const styleOf = (index: number) => {
    let own = styles.get(index);
    if (own === undefined) {
      const style = grid.inks.styleAt(index);
      own = inks.style({ ...style, link: inks.link(grid.inks.links[style.link]!) });
      styles.set(index, own);
    }
    return own;
  };
  for (const [y, line] of grid.lines.entries()) {
    const into = copy.line(y);
    for (let x = 0; x < grid.cols; x++) {
      const code = line.codes[x]!;
      into.codes[x] = code & cell.cluster
        ? inks.code(grid.inks.text(code), code & cell.wide ? 2 : 1)
        : code;
      into.styles[x] = styleOf(line.styles[x]!);
    }
  }
  copy.cursor = { ...grid.cursor };
  copy.modes = grid.modes;
  copy.title = grid.title;
  return copy;
}

/** `from` is what the terminal shows and is used up; after a reset its modes are unknown, so all are said. */
function paintBetween(from: Grid, to: Grid, fresh: boolean): string {
  const pen = new Pen(to, from.cursor);
  const scroll = fresh ? null : findScroll(from, to);
  if (scroll !== null) {
    pen.scroll(scroll);
    from.scroll(...scroll);
  }
  for (const [y, line] of to.lines.entries()) {
    const old = from.line(y);
    if (!old.equals(line)) paintLine(pen, y, { old, line });
  }
  pen.plain();
  if (from.title !== to.title || fresh) pen.out += `\x1b]0;${to.title}\x1b\\`;
  pen.out += modesBetween(fresh ? ~0 : from.modes, to.modes);
  const shape = shapeCode(to.cursor);
  if (shape !== shapeCode(from.cursor)) pen.out += `\x1b[${shape} q`;
  pen.moveTo(to.cursor.x, to.cursor.y);
  if (from.cursor.visible !== to.cursor.visible) {
    pen.out += to.cursor.visible ? "\x1b[?25h" : "\x1b[?25l";
  }
  return pen.out;
}

function paintLine(pen: Pen, y: number, rows: { old: Line; line: Line }): void {
  const { old, line } = rows;
  const cols = line.codes.length;
  const end = endOfContent(line);
  // Erasing to the end is worth it when more than a few cells there must turn blank.
  const erase = endOfContent(old) - end > 3;
  for (const [from, to] of changedSpans(old, line, plainCost)) {
    const stop = erase ? Math.min(to, Math.max(end, from)) : to;
    if (erase && from >= end) {
      pen.moveTo(end, y);
      pen.eraseToEnd();
      return;
    }
    pen.moveTo(from, y);
    pen.cells(line, from, stop);
    if (erase && stop === end && to > end) {
      if (end < cols) {
        pen.moveTo(end, y);
        pen.eraseToEnd();
      }
      return;
    }
  }
}

/** The terminal's cursor and pen while bytes are written. */
class Pen {
  out = "";
  #x: number;
  #y: number;
  /** False when the terminal may think it elsewhere: at the margin, or after a cluster. */
  #known = true;
  #style: Style = plain;
  #styleIndex = 0;

  constructor(private readonly grid: Grid, cursor: Cursor) {
    this.#x = cursor.x;
    this.#y = cursor.y;
  }

  moveTo(x: number, y: number): void {
    if (this.#known && this.#x === x && this.#y === y) return;
    this.out += this.#shortestMove(x, y);
    this.#x = x;
    this.#y = y;
    this.#known = true;
  }

  #shortestMove(x: number, y: number): string {
    const row = y === 0 ? "" : String(y + 1);
    const moves = [x === 0 ? `\x1b[${row}H` : `\x1b[${row};${x + 1}H`];
    if (this.#known && y === this.#y) {
      const by = x - this.#x;
      if (x === 0) moves.push("\r");
      if (by > 0) moves.push(by === 1 ? "\x1b[C" : `\x1b[${by}C`);
      if (by < 0) moves.push(by > -4 ? "\b".repeat(-by) : `\x1b[${-by}D`);
    } else if (this.#known && y > this.#y && y - this.#y < 4) {
      const down = "\n".repeat(y - this.#y);
      if (x === 0) moves.push(`\r${down}`);
      if (x === this.#x) moves.push(down);
    }
    return moves.reduce((best, move) => move.length < best.length ? move : best);
  }

  cells(line: Line, from: number, to: number): void {
    for (let x = from; x < to;) {
      const code = line.codes[x]!;
      const index = line.styles[x]!;
      if (code === cell.blank && index === 0) {
        let end = x;
        while (end < to && line.codes[end] === cell.blank && line.styles[end] === 0) end++;
        if (end - x >= eraseBlanksMin) {
          this.#pen(0);
          this.out += `\x1b[${end - x}X`;
          if (end < to) this.moveTo(end, this.#y);
          x = end;
          continue;
        }
      }
      this.#pen(index);
      this.out += this.grid.inks.text(code);
      const width = code & cell.wide ? 2 : 1;
      x += width;
      this.#x = x;
      if (code & cell.cluster || x >= this.grid.cols) {
        this.#known = false;
        if (x < to) this.moveTo(x, this.#y);
      }
    }
  }

  eraseToEnd(): void {
    this.#pen(0);
    this.out += "\x1b[K";
  }

  scroll([top, bottom, count]: Scroll): void {
    const whole = top === 0 && bottom === this.grid.rows - 1;
    if (!whole) this.out += `\x1b[${top + 1};${bottom + 1}r`;
    this.out += count > 0 ? `\x1b[${count}S` : `\x1b[${-count}T`;
    if (whole) return;
    // Setting the region also sends the cursor home.
    this.out += "\x1b[r";
    this.#x = 0;
    this.#y = 0;
  }

  plain(): void {
    this.#pen(0);
  }

  /** Takes up the pen of that style; 0 is the plain one. */
  #pen(index: number): void {
    if (index === this.#styleIndex) return;
    const style = this.grid.inks.styleAt(index);
    this.#styleIndex = index;
    if (style.link !== this.#style.link) {
      this.out += `\x1b]8;;${this.grid.inks.links[style.link]}\x1b\\`;
    }
    this.out += sgrBetween(this.#style, style);
    this.#style = style;
  }
}

function shapeCode(cursor: Cursor): number {
  return cursor.shape === null ? 0 : cursor.shape * 2 + (cursor.blink ? 1 : 2);
}

const trackingModes = {
  [mouseTracking.none]: null,
  [mouseTracking.x10]: 9,
  [mouseTracking.vt200]: 1000,
  [mouseTracking.drag]: 1002,
  [mouseTracking.any]: 1003,
} as const;

/** The sequences that turn a terminal's modes from one number to another; `~0` is an unknown state. */
export function modesBetween(from: number, to: number): string {
  const changed = from ^ to;
  const unknown = from === ~0;
  const onOff = (bit: number, code: string) =>
    changed & bit || unknown ? `\x1b[?${code}${to & bit ? "h" : "l"}` : "";
  let out = onOff(mode.applicationCursor, "1") + onOff(mode.bracketedPaste, "2004") +
    onOff(mode.focus, "1004");
  if (changed & mode.applicationKeypad || unknown) {
    out += to & mode.applicationKeypad ? "\x1b=" : "\x1b>";
  }
  return out + mouseBetween(from, to);
}

function mouseBetween(from: number, to: number): string {
  const tracking = (modes: number) => {
    const value = modes >> mode.mouseShift & mode.fieldMask;
    return value in trackingModes ? trackingModes[value as keyof typeof trackingModes] : null;
  };
  const sgr = (modes: number) =>
    (modes >> mode.mouseEncodingShift & mode.fieldMask) === mouseEncoding.sgr;
  const after = tracking(to);
  let out = "";
  // A soft reset leaves the mouse as it was: what is unknown is turned off.
  if (from === ~0) out += "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l";
  const before = from === ~0 ? null : tracking(from);
  if (before !== after) {
    if (before !== null) out += `\x1b[?${before}l`;
    if (after !== null) out += `\x1b[?${after}h`;
  }
  if (from === ~0 || sgr(from) !== sgr(to)) out += `\x1b[?1006${sgr(to) ? "h" : "l"}`;
  return out;
}

/** The whole of `grid` as lines of text with colours, for a file or a pipe; no cursor movements. */
export function gridAsAnsiText(grid: Grid): string {
  const lines = grid.lines.map((line) => {
    let out = "";
    let style = plain;
    for (let x = 0; x < endOfContent(line); x++) {
      const next = grid.inks.styleAt(line.styles[x]!);
      out += sgrBetween(style, next) + grid.inks.text(line.codes[x]!);
      style = next;
    }
    return out + sgrBetween(style, plain);
  });
  return lines.join("\n").replace(/\n+$/, "") + "\n";
}
