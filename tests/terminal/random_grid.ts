/** Seeded random screens for property tests. */
import { Grid } from "../../shared/terminal/grid.ts";
import { cell, type Style } from "../../shared/terminal/inks.ts";
import { colorRgb } from "../../shared/terminal/protocol.ts";

export type Random = () => number;

/** mulberry32: a small generator with a seed that a failing test can print. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = state + 0x6d2b79f5 | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

export const below = (random: Random, bound: number) => Math.floor(random() * bound);
const pick = <T>(random: Random, from: readonly T[]): T => from[below(random, from.length)]!;

const narrow = [..."abcXYZ 0129  ─│éß·אב"];
const wide = [..."漢字かな한글😀🚀"];
const clusters = [["e\u0301", 1], ["a\u0308\u0301", 1], ["👩\u200d🚀", 2], [
  "漢\u0301",
  2,
]] as const;

function randomColor(random: Random): number {
  const kind = random();
  if (kind < 0.4) return -1;
  return kind < 0.8 ? below(random, 256) : colorRgb + below(random, 0x1000000);
}

function randomStyle(random: Random, grid: Grid): number {
  if (random() < 0.4) return 0;
  const underline = random() < 0.2 ? 1 + below(random, 5) : 0;
  const style: Style = {
    fg: randomColor(random),
    bg: randomColor(random),
    flags: (random() < 0.5 ? 0 : below(random, 256)) | underline << 8,
    underlineColor: underline !== 0 && random() < 0.5 ? randomColor(random) : -1,
    link: random() < 0.1 ? grid.inks.link(pick(random, ["https://a.example/x", "mailto:b"])) : 0,
  };
  return grid.inks.style(style);
}

function put(
  grid: Grid,
  at: { x: number; y: number },
  what: { code: number; style: number },
): void {
  const line = grid.line(at.y);
  line.codes[at.x] = what.code;
  line.styles[at.x] = what.style;
  if (what.code & cell.wide) {
    line.codes[at.x + 1] = cell.secondHalf;
    line.styles[at.x + 1] = what.style;
  }
}

function fillRow(random: Random, grid: Grid, y: number): void {
  let x = 0;
  while (x < grid.cols) {
    const style = randomStyle(random, grid);
    const length = 1 + below(random, 20);
    const blank = random() < 0.4;
    for (let i = 0; i < length && x < grid.cols; i++) {
      const kind = random();
      const room = grid.cols - x >= 2;
      let code: number = cell.blank;
      if (!blank && kind < 0.1 && room) code = grid.inks.code(pick(random, wide), 2);
      else if (!blank && kind < 0.15) {
        const [text, width] = pick(random, clusters);
        if (width === 1 || room) code = grid.inks.code(text, width);
      } else if (!blank) code = grid.inks.code(pick(random, narrow), 1);
      put(grid, { x, y }, { code, style });
      x += code & cell.wide ? 2 : 1;
    }
  }
}

/** A screen of anything, in its own inks. */
export function randomGrid(random: Random, cols: number, rows: number): Grid {
  const grid = new Grid(cols, rows);
  for (let y = 0; y < rows; y++) if (random() < 0.7) fillRow(random, grid, y);
  rest(random, grid);
  return grid;
}

/** A screen like `from`, with its inks: scrolled, rows rewritten, cells changed. */
export function changedGrid(random: Random, from: Grid): Grid {
  const grid = new Grid(from.cols, from.rows, from.inks);
  grid.copyFrom(from);
  if (random() < 0.5) {
    const top = below(random, grid.rows);
    const bottom = top + below(random, grid.rows - top);
    grid.scroll(top, bottom, (random() < 0.5 ? 1 : -1) * (1 + below(random, 5)));
  }
  for (let y = 0; y < grid.rows; y++) if (random() < 0.2) fillRow(random, grid, y);
  for (let i = below(random, 8); i > 0; i--) {
    const [x, y] = [below(random, grid.cols), below(random, grid.rows)];
    const line = grid.line(y);
    if (!(line.codes[x]! & (cell.wide | cell.secondHalf))) {
      put(grid, { x, y }, {
        code: grid.inks.code(pick(random, narrow), 1),
        style: line.styles[x]!,
      });
    }
  }
  if (random() < 0.7) rest(random, grid);
  return grid;
}

function rest(random: Random, grid: Grid): void {
  const shape = random() < 0.5 ? null : below(random, 3);
  grid.cursor = {
    x: below(random, grid.cols),
    y: below(random, grid.rows),
    visible: random() < 0.8,
    shape,
    blink: shape !== null && random() < 0.5,
  };
  grid.modes = below(random, 16) | below(random, 5) << 4 | below(random, 2) << 7;
  grid.title = pick(random, ["", "shell", "vim ünïcode", "漢"]);
}
