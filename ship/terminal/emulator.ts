/**
 * What knows the inside of @xterm/headless (6.0.0, pinned), with `packed_cells.ts`. It reads the packed
 * line buffers, ten times faster than the public cells, and what the public API does not tell: underline
 * kinds and colours, links, the cursor's look. `tests/terminal/emulator_test.ts` compares every cell
 * with the public API, so that an upgrade which moves these things cannot land.
 */
import xterm from "@xterm/headless";
import type { Grid } from "../../shared/terminal/grid.ts";
import { cell, type Inks } from "../../shared/terminal/inks.ts";
import {
  mode,
  mouseEncoding,
  mouseTracking,
  titleForFrame,
} from "../../shared/terminal/protocol.ts";
import {
  bgExtended,
  combined,
  content,
  type PackedLine,
  simpleStyleOf,
  single,
  styleOf,
  wordsPerCell,
} from "./packed_cells.ts";
import { WholeCharacters } from "./whole_characters.ts";
import { tmuxWidths } from "./widths.ts";

/** The library's own resize does not go below, and its reflow of wide characters would not end there. */
const colsMin = 2;

interface Core {
  readonly buffer: {
    readonly lines: { get(y: number): PackedLine | undefined };
    readonly ybase: number;
    readonly x: number;
    readonly y: number;
    readonly scrollTop: number;
    readonly scrollBottom: number;
  };
  readonly buffers: {
    readonly normal: { clear(): void; fillViewportRows(): void };
  };
  readonly _bufferService: { resize(cols: number, rows: number): void };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly decPrivateModes: {
      readonly cursorStyle?: "block" | "underline" | "bar";
      readonly cursorBlink?: boolean;
    };
  };
  readonly coreMouseService: { readonly activeEncoding: string };
  readonly _oscLinkService: { getLinkData(id: number): { uri: string } | undefined };
  readonly _inputHandler: { parse(bytes: Uint8Array): void };
}

const trackings = {
  none: mouseTracking.none,
  x10: mouseTracking.x10,
  vt200: mouseTracking.vt200,
  drag: mouseTracking.drag,
  any: mouseTracking.any,
} as const;

/** How far a reading of the screen came. */
export interface Reading {
  readonly more: boolean;
}

/** A terminal emulator: bytes in, cells out. */
export class Emulator implements Disposable {
  readonly terminal: xterm.Terminal;
  readonly #core: Core;
  readonly #characters = new WholeCharacters();
  #title = "";
  #synchronized = false;
  #strayed = false;
  /** Per row the packed words last read, so that an unchanged row costs a comparison. */
  #read: Uint32Array[] = [];
  /** Rows with clusters or extended attributes, whose words do not tell everything. */
  #opaque: boolean[] = [];
  #readInto: { grid: Grid; inks: Inks } | null = null;

  /** `onReply` gets what a terminal answers by itself (device attributes, cursor reports). */
  constructor(private cols: number, private rows: number, onReply: (text: string) => void) {
    this.terminal = new xterm.Terminal({
      cols: Math.max(cols, colsMin),
      rows,
      scrollback: 0,
      allowProposedApi: true,
      logLevel: "off",
    });
    this.#core = (this.terminal as unknown as { _core: Core })._core;
    this.terminal.unicode.register(tmuxWidths);
    this.terminal.unicode.activeVersion = tmuxWidths.version;
    this.#narrow();
    this.terminal.onData(onReply);
    this.terminal.onTitleChange((title) => this.#title = titleForFrame(title));
    // tmux before 3.4 marks a tear-free update with these; later ones with mode 2026.
    this.terminal.parser.registerDcsHandler(
      { prefix: "=", final: "s" },
      (_data, [what]) => {
        this.#synchronized = what === 1;
        return true;
      },
    );
    this.#watch("L", () => this.#outsideRegion());
    this.#watch("M", () => this.#outsideRegion());
    this.#watch("K", ([what]) => this.#erasesText(what === 0 ? this.#core.buffer.x : 0));
    this.#watch("X", () => this.#erasesText(this.#core.buffer.x));
    this.#watch("@", () => this.#core.buffer.x >= this.cols);
  }

  #watch(
    final: string,
    strays: (params: (number | number[])[]) => boolean,
  ): void {
    this.terminal.parser.registerCsiHandler({ final }, (params) => {
      this.#strayed ||= strays(params);
      return false;
    });
  }

  /** Takes bytes in and parses them before it returns, but for a character that is not all there. */
  write(bytes: Uint8Array): void {
    this.#core._inputHandler.parse(this.#characters.take(bytes));
  }

  resize(cols: number, rows: number): void {
    const narrow = Math.min(this.cols, cols) < colsMin;
    this.cols = cols;
    this.rows = rows;
    if (narrow) this.#emptyNormalScreen();
    this.terminal.resize(Math.max(cols, colsMin), rows);
    this.#narrow();
    this.#readInto = null;
  }

  /** One column, which is what tmux then draws for. */
  #narrow(): void {
    if (this.cols < colsMin) {
      this.#core._bufferService.resize(this.cols, this.rows);
    }
  }

  /** The screen that tmux does not draw on is the one that the library would reflow. */
  #emptyNormalScreen(): void {
    const { normal } = this.#core.buffers;
    normal.clear();
    normal.fillViewportRows();
  }

  /**
   * True once after bytes that may leave another screen than tmux's own, which only a redraw mends. Seen
   * of tmux 3.3a: it inserts and deletes lines outside of the scroll region, where terminals do nothing;
   * when a character beyond ASCII wraps at the bottom, it draws the character before it erases the new
   * line; and when one wraps in insert mode, it makes room for it in the line before.
   */
  takeStrayed(): boolean {
    const strayed = this.#strayed;
    this.#strayed = false;
    return strayed;
  }

  #outsideRegion(): boolean {
    const { y, scrollTop, scrollBottom } = this.#core.buffer;
    return y < scrollTop || y > scrollBottom;
  }

  /** Whether a character beyond ASCII stands at column `x`, where an erasure begins. */
  #erasesText(x: number): boolean {
    const { lines, ybase, y } = this.#core.buffer;
    const packed = lines.get(ybase + y)?._data[x * wordsPerCell] ?? 0;
    return (packed & content.combined) !== 0 ||
      (packed & content.valueMask) > 0x7e;
  }

  /** True between the marks of an update that should be seen whole. */
  get updating(): boolean {
    return this.#synchronized || this.terminal.modes.synchronizedOutputMode;
  }

  /**
   * Brings `grid`, which only this method changes and which has this screen's size, up to date. Reads
   * at most about `cellsMax` changed cells; `more` says that rows are left for the next call.
   */
  read(grid: Grid, cellsMax = Infinity): Reading {
    if (this.#readInto?.grid !== grid || this.#readInto.inks !== grid.inks) this.#forget(grid);
    let cells = 0;
    for (let y = 0; y < this.rows; y++) {
      const line = this.#core.buffer.lines.get(this.#core.buffer.ybase + y);
      if (line === undefined || this.#unchanged(y, line)) continue;
      if (cells >= cellsMax) {
        this.#readRest(grid);
        return { more: true };
      }
      this.#readLine(grid, y, line);
      cells += this.cols;
    }
    this.#readRest(grid);
    return { more: false };
  }

  [Symbol.dispose](): void {
    this.terminal.dispose();
  }

  #forget(grid: Grid): void {
    this.#readInto = { grid, inks: grid.inks };
    this.#read = [];
    this.#opaque = [];
  }

  #unchanged(y: number, line: PackedLine): boolean {
    const before = this.#read[y];
    if (before === undefined || this.#opaque[y]) return false;
    const words = line._data;
    for (let i = 0; i < before.length; i++) if (before[i] !== words[i]) return false;
    return true;
  }

  #readLine(grid: Grid, y: number, line: PackedLine): void {
    const words = line._data;
    const used = this.cols * wordsPerCell;
    const copy = this.#read[y] ??= new Uint32Array(used);
    copy.set(words.subarray(0, used));
    const { codes, styles } = grid.line(y);
    let opaque = false;
    for (let x = 0; x < this.cols; x++) {
      const at = x * wordsPerCell;
      const packed = words[at]!;
      const bg = words[at + 2]!;
      const width = packed >> content.widthShift;
      opaque ||= (packed & content.combined) !== 0 || (bg & bgExtended) !== 0;
      styles[x] = this.#style(grid.inks, line, x);
      codes[x] = packed & content.combined
        ? combined(grid.inks, line._combined[x], width)
        : single(packed & content.valueMask, width);
      // A half without its other half is what an interrupted overwrite leaves: it shows as nothing.
      if (width === 0) {
        const owed = x > 0 && (codes[x - 1]! & cell.wide) !== 0;
        codes[x] = owed ? cell.secondHalf : cell.blank;
        if (owed) styles[x] = styles[x - 1]!;
      } else if (x > 0 && codes[x - 1]! & cell.wide) codes[x - 1] = cell.blank;
    }
    if (codes[this.cols - 1]! & cell.wide) codes[this.cols - 1] = cell.blank;
    this.#opaque[y] = opaque;
  }

  #style(inks: Inks, line: PackedLine, x: number): number {
    const fg = line._data[x * wordsPerCell + 1]!;
    const bg = line._data[x * wordsPerCell + 2]!;
    const extended = bg & bgExtended ? line._extendedAttrs[x] : undefined;
    if (extended === undefined) return simpleStyleOf(inks, fg, bg);
    const uri = this.#core._oscLinkService.getLinkData(extended._urlId)?.uri;
    return inks.style(styleOf(inks, { fg, bg, extended, uri }));
  }

  #readRest(grid: Grid): void {
    const { buffer, coreService, coreMouseService } = this.#core;
    const { cursorStyle, cursorBlink } = coreService.decPrivateModes;
    grid.cursor = {
      x: Math.min(buffer.x, this.cols - 1),
      y: Math.min(buffer.y, this.rows - 1),
      visible: !coreService.isCursorHidden,
      shape: cursorStyle === undefined ? null : ["block", "underline", "bar"].indexOf(cursorStyle),
      blink: cursorStyle !== undefined && cursorBlink === true,
    };
    const modes = this.terminal.modes;
    grid.modes = (modes.applicationCursorKeysMode ? mode.applicationCursor : 0) |
      (modes.applicationKeypadMode ? mode.applicationKeypad : 0) |
      (modes.bracketedPasteMode ? mode.bracketedPaste : 0) |
      (modes.sendFocusMode ? mode.focus : 0) |
      trackings[modes.mouseTrackingMode] << mode.mouseShift |
      (coreMouseService.activeEncoding.startsWith("SGR") ? mouseEncoding.sgr : 0) <<
        mode.mouseEncodingShift;
    grid.title = this.#title;
  }
}
