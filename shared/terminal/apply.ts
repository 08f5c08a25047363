/** From frames back to a screen. Anything a schema lets through and a screen cannot hold is refused. */
import { type Cursor, Grid, type Line } from "./grid.ts";
import { cell } from "./inks.ts";
import {
  colorDefault,
  type Patch,
  type Run,
  type Snapshot,
  stylesMax,
  type WireCursor,
  type WireStyle,
} from "./protocol.ts";

/** A frame that contradicts the screen it is for; the remedy is a resync. */
export class FrameRefused extends Error {
  override readonly name = "FrameRefused";
}

/** A screen under reconstruction: the grid and the server's numbering of styles and links. */
export class Picture {
  readonly #styles: number[] = [];
  readonly #links = new Map<number, string>([[0, ""]]);

  private constructor(readonly grid: Grid) {}

  /** Throws `FrameRefused`. */
  static of(frame: Snapshot): Picture {
    const picture = new Picture(new Grid(frame.cols, frame.rows));
    picture.#addLinks(frame.links);
    picture.#addStyles(frame.styles, 0);
    if (frame.grid.length > frame.rows) throw new FrameRefused("more rows than the screen has");
    for (const [y, run] of frame.grid.entries()) picture.#write(y, { x: 0, run, from: 0 });
    picture.#wholeLines(frame.grid.keys());
    picture.#takeRest(frame);
    return picture;
  }

  /** Changes the grid in place; throws `FrameRefused` and leaves a picture that is good for nothing. */
  apply(frame: Patch): void {
    this.#addLinks(frame.links);
    if (frame.styles !== undefined) this.#addStyles(frame.styles, frame.stylesFrom ?? -1);
    if (frame.scroll !== undefined) {
      const [top, bottom, count] = frame.scroll;
      if (top > bottom || bottom >= this.grid.rows || count === 0) {
        throw new FrameRefused("a scroll outside the screen");
      }
      this.grid.scroll(top, bottom, count);
    }
    const touched = new Set<number>();
    let y = 0;
    for (const run of frame.rows ?? []) {
      const [down, x] = run;
      if (typeof down !== "number" || typeof x !== "number") {
        throw new FrameRefused("a row nowhere");
      }
      y += down;
      this.#write(y, { x, run, from: 2 });
      touched.add(y);
    }
    this.#wholeLines(touched);
    this.#takeRest(frame);
  }

  #addLinks(links: Snapshot["links"]): void {
    for (const [id, uri] of links ?? []) this.#links.set(id, uri);
    if (this.#links.size > stylesMax) throw new FrameRefused("too many links");
  }

  #addStyles(styles: readonly WireStyle[], from: number): void {
    if (from !== this.#styles.length) throw new FrameRefused("styles out of order");
    if (from + styles.length > stylesMax) throw new FrameRefused("too many styles");
    for (const [fg, bg, flags, underlineColor = colorDefault, link = 0] of styles) {
      const uri = this.#links.get(link);
      if (uri === undefined) throw new FrameRefused("a link that was not sent");
      const inks = this.grid.inks;
      this.#styles.push(inks.style({ fg, bg, flags, underlineColor, link: inks.link(uri) }));
    }
  }

  #write(y: number, at: { x: number; run: Run; from: number }): void {
    const line = this.grid.lines[y];
    if (line === undefined) throw new FrameRefused("a row outside the screen");
    let { x } = at;
    for (let i = at.from; i < at.run.length; i += 2) {
      const style = at.run[i];
      const content = at.run[i + 1];
      const own = typeof style === "number" ? this.#styles[style] : undefined;
      if (own === undefined || content === undefined) throw new FrameRefused("no such style");
      if (typeof content === "number") x = this.#blanks(line, { x, style: own, count: content });
      else if (typeof content === "string") {
        for (const character of content) {
          x = this.#put(line, { x, style: own, text: character, width: 1 });
        }
      } else {
        const [width, ...clusters] = content;
        for (const text of clusters) x = this.#put(line, { x, style: own, text, width });
      }
    }
  }

  #blanks(line: Line, at: { x: number; style: number; count: number }): number {
    const end = at.x + at.count;
    if (end > line.codes.length) throw new FrameRefused("a run past the end of its row");
    line.codes.fill(cell.blank, at.x, end);
    line.styles.fill(at.style, at.x, end);
    return end;
  }

  #put(line: Line, at: { x: number; style: number; text: string; width: number }): number {
    const end = at.x + at.width;
    if (end > line.codes.length) throw new FrameRefused("a run past the end of its row");
    if (at.text === "") throw new FrameRefused("an empty cell");
    line.codes[at.x] = this.grid.inks.code(at.text, at.width);
    line.styles[at.x] = at.style;
    if (at.width === 2) {
      line.codes[at.x + 1] = cell.secondHalf;
      line.styles[at.x + 1] = at.style;
    }
    return end;
  }

  #wholeLines(rows: Iterable<number>): void {
    for (const y of rows) {
      if (!this.grid.line(y).isWhole()) throw new FrameRefused("half of a wide character");
    }
  }

  #takeRest(frame: Pick<Patch, "cursor" | "modes" | "title">): void {
    const { grid } = this;
    if (frame.cursor !== undefined) {
      const cursor = cursorOf(frame.cursor);
      if (cursor.x >= grid.cols || cursor.y >= grid.rows) {
        throw new FrameRefused("a cursor outside the screen");
      }
      grid.cursor = cursor;
    }
    if (frame.modes !== undefined) grid.modes = frame.modes;
    if (frame.title !== undefined) grid.title = frame.title;
  }
}

function cursorOf(wire: WireCursor): Cursor {
  const [x, y, visible, shape, blink] = wire;
  return { x, y, visible: visible === 1, shape: shape ?? null, blink: blink === 1 };
}
