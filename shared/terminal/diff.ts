/**
 * From what the client shows and what the screen is now to the next frame. A frame has a size budget:
 * rows that do not fit stay as the client has them and come with the next frame, so that even a screen
 * whose every cell is its own colour neither overruns a socket's buffer nor holds the event loop.
 */
import { type Cursor, Grid, type Line, sameCursor } from "./grid.ts";
import { cell } from "./inks.ts";
import { noNotices, noticeFields, type Notices } from "./notices.ts";
import {
  colorDefault,
  type Patch,
  type Run,
  type Snapshot,
  type WireCursor,
  type WireStyle,
} from "./protocol.ts";
import { findScroll } from "./scroll.ts";
import { changedSpans, deflatedCost, endOfContent } from "./spans.ts";

/** Characters of rows and styles in one frame, about; half of what a pipe on the way may hold. */
export const frameCharactersMax = 128 * 1024;
/**
 * A table longer than this and twice the cells is begun anew. (With less a screen whose every cell has
 * its own style would never be finished: each part of it would call for a snapshot again.)
 */
const stylesBeforeFresh = 16 * 1024;
const blankRunMin = 10;

/** A frame to send, and whether rows had to wait for the next. */
export interface Encoded<Frame> {
  readonly frame: Frame;
  readonly more: boolean;
}

/** Turns screens into frames for one client. Sequence numbers count from 1. */
export class FrameEncoder {
  #shown: Grid | null = null;
  #seq = 0;
  /** The client's number of each of our styles and links, since the last snapshot. */
  #wireStyles = new Numbering();
  #wireLinks = new Set<number>();
  #styles: WireStyle[] = [];
  #links: [number, string][] = [];
  #characters = 0;

  /** The number of the newest frame. */
  get seq(): number {
    return this.#seq;
  }

  /** Whether only a snapshot can bring the client from what it shows to `now`. */
  needsSnapshot(now: Grid): boolean {
    const shown = this.#shown;
    return shown === null || shown.cols !== now.cols || shown.rows !== now.rows ||
      shown.inks !== now.inks ||
      this.#wireStyles.size > stylesBeforeFresh + 2 * now.cols * now.rows;
  }

  snapshot(now: Grid, notices = noNotices): Encoded<Snapshot> {
    const shown = new Grid(now.cols, now.rows, now.inks);
    this.#shown = shown;
    this.#wireStyles = new Numbering();
    this.#wireLinks = new Set();
    this.#begin();
    this.#styles = [[colorDefault, colorDefault, 0]];
    const grid: Run[] = [];
    let more = false;
    for (const [y, line] of now.lines.entries()) {
      if (this.#characters > frameCharactersMax) {
        more = true;
        break;
      }
      grid.push(this.#run(now, line, 0, endOfContent(line)));
      shown.line(y).copyFrom(line);
    }
    while (grid.length > 0 && grid[grid.length - 1]!.length === 0) grid.pop();
    this.#takeRest(shown, now);
    const frame: Snapshot = {
      type: "snapshot",
      cols: now.cols,
      rows: now.rows,
      styles: this.#styles,
      ...(this.#links.length > 0 ? { links: this.#links } : {}),
      grid,
      cursor: wireCursor(now.cursor),
      modes: now.modes,
      title: now.title,
      ...noticeFields(notices),
      // Last: what differs in every frame should not cut in two what deflate has seen before.
      seq: ++this.#seq,
    };
    return { frame, more };
  }

  /** A frame of `notices` alone for a screen that shows what it showed; null when there is nothing. */
  lastWords(notices: Notices): Encoded<Patch> | null {
    return this.#shown === null ? null : this.patch(this.#shown, notices);
  }

  /** The changes since the last frame, or null when there are none. Needs no snapshot before it. */
  patch(now: Grid, notices = noNotices): Encoded<Patch> | null {
    const shown = this.#shown;
    if (shown === null) throw new Error("a patch before the first snapshot");
    this.#begin();
    const stylesFrom = this.#wireStyles.size;
    const scroll = findScroll(shown, now);
    if (scroll !== null) shown.scroll(...scroll);
    const rows: Run[] = [];
    let rowBefore = 0;
    let more = false;
    for (const [y, line] of now.lines.entries()) {
      const old = shown.line(y);
      if (old.equals(line)) continue;
      if (this.#characters > frameCharactersMax) {
        more = true;
        break;
      }
      for (const [from, to] of changedSpans(old, line, deflatedCost)) {
        rows.push([y - rowBefore, from, ...this.#run(now, line, from, to)]);
        rowBefore = y;
        this.#characters += 8;
      }
      old.copyFrom(line);
    }
    const cursor = sameCursor(shown.cursor, now.cursor) ? null : wireCursor(now.cursor);
    const modes = shown.modes === now.modes ? null : now.modes;
    const title = shown.title === now.title ? null : now.title;
    this.#takeRest(shown, now);
    if (
      rows.length === 0 && scroll === null && cursor === null && modes === null && title === null &&
      !notices.bell && notices.clipboard === null
    ) return null;
    const frame: Patch = {
      type: "patch",
      ...(this.#links.length > 0 ? { links: this.#links } : {}),
      ...(this.#styles.length > 0 ? { styles: this.#styles, stylesFrom } : {}),
      ...(scroll !== null ? { scroll } : {}),
      ...(rows.length > 0 ? { rows } : {}),
      ...(cursor !== null ? { cursor } : {}),
      ...(modes !== null ? { modes } : {}),
      ...(title !== null ? { title } : {}),
      ...noticeFields(notices),
      seq: ++this.#seq,
    };
    return { frame, more };
  }

  #begin(): void {
    this.#styles = [];
    this.#links = [];
    this.#characters = 0;
  }

  #takeRest(shown: Grid, now: Grid): void {
    shown.cursor = { ...now.cursor };
    shown.modes = now.modes;
    shown.title = now.title;
  }

  /** Cells `from` up to `to` as style, content, style, content, …. */
  #run(now: Grid, line: Line, from: number, to: number): Run {
    const run: Run = [];
    const { codes, styles } = line;
    let x = from;
    while (x < to) {
      const style = styles[x]!;
      const start = x;
      const kind = kindOf(codes[x]!);
      while (x < to && styles[x] === style && (kindOf(codes[x]!) === kind)) x++;
      // The second half of a wide cell is said by its first.
      if (kind === "second half") continue;
      const wire = this.#wireStyle(now, style);
      if (kind === "single") this.#pushText(run, wire, codes.subarray(start, x));
      else {
        const width = kind === "wide" ? 2 : 1;
        const clusters: string[] = [];
        x = start;
        while (x < to && styles[x] === style && kindOf(codes[x]!) === kind) {
          clusters.push(now.inks.text(codes[x]!));
          x += width;
        }
        run.push(wire, [width, ...clusters]);
        this.#characters += 8 + 8 * clusters.length;
      }
    }
    return run;
  }

  /** Text in which long stretches of blanks become numbers. */
  #pushText(run: Run, style: number, codes: Uint32Array): void {
    let text = "";
    const flush = () => {
      if (text === "") return;
      run.push(style, text);
      this.#characters += text.length + 7;
      text = "";
    };
    for (let x = 0; x < codes.length;) {
      let end = x;
      while (end < codes.length && codes[end] === cell.blank) end++;
      const blanks = end - x;
      const atEdge = x === 0 || end === codes.length;
      if (blanks >= (atEdge ? 4 : blankRunMin)) {
        flush();
        run.push(style, blanks);
        this.#characters += 7;
        x = end;
      } else if (blanks > 0) {
        text += " ".repeat(blanks);
        x = end;
      } else text += String.fromCodePoint(codes[x++]!);
    }
    flush();
  }

  #wireStyle(now: Grid, index: number): number {
    const known = this.#wireStyles.get(index);
    if (known !== undefined) return known;
    const style = now.inks.styleAt(index);
    const wire = this.#wireStyles.add(index);
    const base = [style.fg, style.bg, style.flags] as const;
    if (style.link !== 0) {
      if (!this.#wireLinks.has(style.link)) {
        this.#wireLinks.add(style.link);
        this.#links.push([style.link, now.inks.links[style.link]!]);
      }
      this.#styles.push([...base, style.underlineColor, style.link]);
    } else if (style.underlineColor !== colorDefault) {
      this.#styles.push([...base, style.underlineColor]);
    } else this.#styles.push([...base]);
    this.#characters += 20;
    return wire;
  }
}

/** New numbers, from 0, for some of the numbers of another table; style 0 is 0 in both. */
class Numbering {
  size = 1;
  /** One more than the new number; 0 is none. */
  #numbers = new Int32Array(256);

  constructor() {
    this.#numbers[0] = 1;
  }

  get(index: number): number | undefined {
    const number = this.#numbers[index];
    return number === undefined || number === 0 ? undefined : number - 1;
  }

  add(index: number): number {
    if (index >= this.#numbers.length) {
      const longer = new Int32Array(2 ** Math.ceil(Math.log2(index + 1)));
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[index] = this.size + 1;
    return this.size++;
  }
}

type Kind = "single" | "wide" | "cluster" | "second half";
function kindOf(code: number): Kind {
  if (code & cell.wide) return "wide";
  if (code & cell.cluster) return "cluster";
  return code & cell.secondHalf ? "second half" : "single";
}

function wireCursor(cursor: Cursor): WireCursor {
  const { x, y, shape } = cursor;
  const visible = cursor.visible ? 1 : 0;
  return shape === null ? [x, y, visible] : [x, y, visible, shape, cursor.blink ? 1 : 0];
}
