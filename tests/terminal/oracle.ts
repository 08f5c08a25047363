// deno-lint-ignore-file no-control-regex -- control characters are what it is about
/**
 * Compares what a client shows with what tmux says the session shows, told in two ways that have no
 * blind spot in common: `capture-pane` prints tmux's own grid, and the witness is drawn from nothing.
 */
import assert from "node:assert/strict";
import { Grid } from "../../shared/terminal/grid.ts";
import { cell, type Style } from "../../shared/terminal/inks.ts";
import { colorDefault, colorRgb } from "../../shared/terminal/protocol.ts";
import { Emulator } from "../../ship/terminal/emulator.ts";
import { type TmuxServer, Witness } from "./witness.ts";

/** Whoever holds a screen. */
export interface Viewing {
  readonly grid: Grid | null;
}

interface Pane {
  readonly id: string;
  readonly active: boolean;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly cursor: string;
  readonly title: string;
}

const paneFormat = "#{pane_id} #{pane_active} #{pane_left} #{pane_top} #{pane_width} " +
  "#{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{pane_title}";

/** The pane's cells as tmux prints them, and where its printing of each row ends. */
interface Truth {
  readonly grid: Grid;
  readonly ends: readonly number[];
}

/** Asks tmux about one session. */
export class Oracle implements AsyncDisposable {
  private constructor(
    private readonly server: TmuxServer,
    private readonly session: string,
    private readonly witness: Witness,
  ) {}

  static async of(server: TmuxServer, session: string): Promise<Oracle> {
    return new Oracle(server, session, await Witness.attach(server, session));
  }

  /** The first thing in which client and tmux differ, or null. */
  async difference(client: Viewing): Promise<string | null> {
    const { grid } = client;
    if (grid === null) return "no screen yet";
    for (const pane of await this.#panes()) {
      const difference = paneDifference(grid, pane, await this.#truth(pane));
      if (difference !== null) return `${pane.id}: ${difference}`;
    }
    return client.grid === grid ? await this.witness.difference(grid) : "a new screen came";
  }

  /** Waits until the session is at rest and the client shows it; fails with the last difference. */
  async agrees(client: Viewing, what: string): Promise<void> {
    let difference: string | null = null;
    for (let i = 0; i < 20; i++) {
      difference = await this.difference(client);
      if (difference === null) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    const { grid } = client;
    const text = grid?.lines.map((_, y) => grid.text(y)).join("\n").trimEnd();
    assert.fail(`${what}: ${difference}\n${text}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.witness[Symbol.asyncDispose]();
  }

  async #panes(): Promise<Pane[]> {
    const listed = await this.server.tmux(
      "list-panes",
      "-t",
      this.session,
      "-F",
      paneFormat,
    );
    return listed.trim().split("\n").map((line) => {
      const [id = "", active, ...rest] = line.split(" ");
      const [left = 0, top = 0, width = 0, height = 0, x = 0, y = 0] = rest
        .slice(0, 6).map(Number);
      // The cursor stands on the last cell while the next character would wrap.
      const cursor = `${left + Math.min(x, width - 1)},${top + y} ${rest[6] === "1"}`;
      const title = rest.slice(7).join(" ");
      return {
        id,
        active: active === "1",
        left,
        top,
        width,
        height,
        cursor,
        title,
      };
    });
  }

  async #truth(pane: Pane): Promise<Truth> {
    const captured = await this.server.tmux("capture-pane", "-p", "-e", "-N", "-t", pane.id);
    // Columns more, so that the cursor tells the end of a full row, and of one of a single cell.
    using emulator = new Emulator(pane.width + 2, pane.height, () => {});
    const write = (text: string) => emulator.write(new TextEncoder().encode(text));
    write("\x1b)0\x1b[?7l");
    const grid = new Grid(pane.width + 2, pane.height);
    const ends = spelled(captured).split("\n").slice(0, pane.height).map((line, y) => {
      write(`\x1b[${y + 1};1H${line}`);
      emulator.read(grid);
      return grid.cursor.x;
    });
    return { grid, ends };
  }
}

/** What `acsc` of terminfo has beyond the drawing set of a VT100. */
const drawn: Readonly<Record<string, string>> = {
  "+": "→",
  ",": "←",
  "-": "↑",
  ".": "↓",
  "0": "▮",
};

/**
 * What `capture-pane` printed, as terminals spell it. It prints line drawing in its ACS form between SO
 * and SI, as a terminal whose G1 is the drawing set shows it. tmux 3.3a writes overline, SGR 53, as `5:3`,
 * which means nothing else.
 */
function spelled(captured: string): string {
  return captured.replaceAll(
    /\x1b\[([\d;:]*)m/g,
    (sequence) => sequence.replaceAll(/(?<=[[;])5:3(?=[;m])/g, "53"),
  )
    .replaceAll(
      /\x0e[^\x0f]*/g,
      (shifted) => shifted.replaceAll(/\x1b\[[\d;:]*m|[+,\-.0]/g, (found) => drawn[found] ?? found),
    );
}

function paneDifference(grid: Grid, pane: Pane, truth: Truth): string | null {
  if (pane.left + pane.width > grid.cols || pane.top + pane.height > grid.rows) {
    return `pane ${pane.width}x${pane.height} in a client of ${grid.cols}x${grid.rows}`;
  }
  for (let y = 0; y < pane.height; y++) {
    // In a pane too narrow for it tmux keeps a wide character whole; half of one shows as nothing.
    const line = truth.grid.line(y);
    if (line.codes[pane.width - 1]! & cell.wide) line.codes[pane.width - 1] = cell.blank;
    for (let x = 0; x < pane.width; x++) {
      const mine = shown(grid, pane.left + x, pane.top + y);
      const theirs = shown(truth.grid, x, y);
      if (mine.told === theirs.told) continue;
      // The rows of tmux 3.3a's printing end with the last cell that was written: it is silent on the
      // colour of what was erased beyond it, which the witness shows.
      if (x >= (truth.ends[y] ?? 0) && mine.erased) continue;
      return `cell ${x},${y}: ${mine.told} is not ${theirs.told}`;
    }
  }
  return pane.active ? cursorDifference(grid, pane) : null;
}

function cursorDifference({ cursor, title }: Grid, pane: Pane): string | null {
  const mine = `${cursor.x},${cursor.y} ${cursor.visible}`;
  if (mine !== pane.cursor && (cursor.visible || pane.cursor.endsWith("true"))) {
    return `cursor ${mine} is not ${pane.cursor}`;
  }
  return title === pane.title ? null : `title ${title} is not ${pane.title}`;
}

function shown(grid: Grid, x: number, y: number): { told: string; erased: boolean } {
  const line = grid.line(y);
  const code = line.codes[x]!;
  const style = grid.inks.styleAt(line.styles[x]!);
  const width = code & cell.wide ? 2 : code & cell.secondHalf ? 0 : 1;
  const { underlineColor } = style;
  // What an underline has of the palette reaches clients of tmux 3.3a as 24-bit colour.
  const rgb = underlineColor in palette ? palette[underlineColor] : underlineColor;
  const look = `fg ${style.fg} bg ${style.bg} flags ${style.flags} underline ${rgb}`;
  const link = grid.inks.links[style.link];
  return {
    told: `"${grid.inks.text(code)}" ${width} wide, ${look} link "${link}"`,
    erased: code === cell.blank && hasOnlyBackground(style),
  };
}

/** The palette that xterm begins with, as colours of the protocol. */
const palette: readonly number[] = [
  ...[
    0x000000,
    0x800000,
    0x008000,
    0x808000,
    0x000080,
    0x800080,
    0x008080,
    0xc0c0c0,
  ],
  ...[
    0x808080,
    0xff0000,
    0x00ff00,
    0xffff00,
    0x0000ff,
    0xff00ff,
    0x00ffff,
    0xffffff,
  ],
  ...Array.from({ length: 216 }, (_, n) => {
    const [red, green, blue] = [n / 36, n / 6 % 6, n % 6].map((part) => {
      const step = Math.floor(part);
      return step === 0 ? 0 : 55 + 40 * step;
    });
    return red! << 16 | green! << 8 | blue!;
  }),
  ...Array.from({ length: 24 }, (_, n) => (8 + 10 * n) * 0x010101),
].map((rgb) => colorRgb + rgb);

const hasOnlyBackground = ({ fg, flags, underlineColor, link }: Style) =>
  fg === colorDefault && flags === 0 && underlineColor === colorDefault &&
  link === 0;
