/** Compares what a client shows with what tmux says the session shows. */
import assert from "node:assert/strict";
import { Grid } from "../../shared/terminal/grid.ts";
import { cell } from "../../shared/terminal/inks.ts";
import { Emulator } from "../../ship/terminal/emulator.ts";
import type { TestClient, TmuxFixture } from "./terminal_fixture.ts";

interface Pane {
  readonly id: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

async function panesOf(tmux: TmuxFixture, session: string): Promise<Pane[]> {
  const format = "#{pane_id} #{pane_left} #{pane_top} #{pane_width} #{pane_height}";
  const listed = await tmux.tmux("list-panes", "-t", session, "-F", format);
  return listed.trim().split("\n").map((line) => {
    const [id = "", ...numbers] = line.split(" ");
    const [left = 0, top = 0, width = 0, height = 0] = numbers.map(Number);
    return { id, left, top, width, height };
  });
}

/** The pane's cells as tmux prints them, and where its printing of each row ends. */
interface Truth {
  readonly grid: Grid;
  readonly ends: readonly number[];
}

/**
 * Line drawing comes in its ACS form, which G1 undoes. tmux 3.3a prints overline, SGR 53, as `5:3`. Its
 * rows end with the last cell that was written: what was erased in a colour beyond it is not told.
 */
async function paneGrid(tmux: TmuxFixture, pane: Pane): Promise<Truth> {
  const captured = await tmux.tmux("capture-pane", "-p", "-e", "-N", "-t", pane.id);
  // One column more, so that the cursor tells the end of a full row.
  using emulator = new Emulator(pane.width + 1, pane.height, () => {});
  const write = (text: string) => emulator.write(new TextEncoder().encode(text));
  write("\x1b)0\x1b[?7l");
  const grid = new Grid(pane.width + 1, pane.height);
  const ends = captured.split("\n").slice(0, pane.height).map((line, y) => {
    // deno-lint-ignore no-control-regex -- an escape sequence is what it is about
    write(`\x1b[${y + 1};1H${line.replaceAll(/(?<=\x1b\[[0-9;:]*)\b5:3(?=[;m])/g, "53")}`);
    emulator.read(grid);
    return grid.cursor.x;
  });
  return { grid, ends };
}

const shown = (grid: Grid, x: number, y: number): string => {
  const line = grid.line(y);
  const code = line.codes[x]!;
  const style = grid.inks.styleAt(line.styles[x]!);
  return JSON.stringify([
    grid.inks.text(code),
    code & cell.wide ? 2 : code & cell.secondHalf ? 0 : 1,
    { ...style, link: 0 },
  ]);
};

/** The first cell in which client and tmux differ, or null. */
export async function oracleDifference(
  tmux: TmuxFixture,
  session: string,
  client: TestClient,
): Promise<string | null> {
  for (const pane of await panesOf(tmux, session)) {
    const truth = await paneGrid(tmux, pane);
    const { grid } = client;
    if (grid === null) return "no screen yet";
    if (pane.left + pane.width > grid.cols || pane.top + pane.height > grid.rows) {
      return `pane ${pane.width}x${pane.height} in a client of ${grid.cols}x${grid.rows}`;
    }
    for (let y = 0; y < pane.height; y++) {
      for (let x = 0; x < pane.width; x++) {
        const mine = shown(grid, pane.left + x, pane.top + y);
        const theirs = shown(truth.grid, x, y);
        const told = x < (truth.ends[y] ?? 0) || !mine.startsWith('[" ",1,');
        if (told && mine !== theirs) {
          return `cell ${x},${y} of ${pane.id}: ${mine} is not ${theirs}`;
        }
      }
    }
  }
  return null;
}

/** Waits until the session is at rest and the client shows it; fails with the last difference. */
export async function agrees(
  tmux: TmuxFixture,
  session: string,
  { client, what }: { client: TestClient; what: string },
): Promise<void> {
  let difference: string | null = null;
  for (let i = 0; i < 60; i++) {
    difference = await oracleDifference(tmux, session, client);
    if (difference === null) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail(`${what}: ${difference}\n${client.text}`);
}
