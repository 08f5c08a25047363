/** What people see: tables that align, colour where it is wanted, and no control character of a stranger. */
import { displayText } from "../../shared/ids.ts";
import { cutTo, displayWidth, padEnd } from "./display_width.ts";

export type Colour = "red" | "green" | "yellow" | "blue" | "cyan" | "dim" | "bold";

const codes: Readonly<Record<Colour, number>> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  cyan: 36,
  dim: 2,
  bold: 1,
};

/** Paints a text (SGR, ECMA-48), or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

export function painter(coloured: boolean): Paint {
  return coloured ? (colour, text) => `\x1b[${codes[colour]}m${text}\x1b[0m` : (_, text) => text;
}

/** One cell: its text is escaped here, so that no caller can forget to. */
export interface Cell {
  readonly text: string;
  readonly colour?: Colour;
}

export interface TableOptions {
  readonly paint: Paint;
  /** Width of the terminal; the last column is cut to it. Infinity when there is no terminal. */
  readonly columns: number;
}

const gap = "  ";

/** A table with a head; each line ends with a newline. Rows may be shorter than the head. */
export function table(
  head: readonly string[],
  rows: ReadonlyArray<ReadonlyArray<Cell | string>>,
  { paint, columns }: TableOptions,
): string {
  const cells = rows.map((row) => row.map((cell) => toCell(cell)));
  const widths = head.map((title, index) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[index]?.text ?? "")))
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  const lastMax = Math.max(8, columns - before);
  const line = (row: readonly Cell[]) =>
    head.map((_, index) => {
      const { text, colour } = row[index] ?? { text: "" };
      const last = index === head.length - 1;
      const shown = last ? cutTo(text, lastMax) : text;
      const fill = last ? "" : padEnd("", (widths[index] ?? 0) - displayWidth(shown));
      return (colour === undefined || shown === "" ? shown : paint(colour, shown)) + fill;
    }).join(gap).trimEnd();
  const titles = head.map((title): Cell => ({ text: title, colour: "dim" }));
  return [titles, ...cells].map((row) => `${line(row)}\n`).join("");
}

function toCell(cell: Cell | string): Cell {
  return typeof cell === "string"
    ? { text: displayText(cell) }
    : { ...cell, text: displayText(cell.text) };
}

/** `label  value` lines, aligned; values are escaped. */
export function facts(
  pairs: ReadonlyArray<readonly [label: string, value: Cell | string]>,
  paint: Paint,
): string {
  const width = Math.max(0, ...pairs.map(([label]) => displayWidth(label)));
  return pairs.map(([label, value]) => {
    const { text, colour } = toCell(value);
    const shown = colour === undefined ? text : paint(colour, text);
    return `${paint("dim", padEnd(label, width))}  ${shown}\n`;
  }).join("");
}

/**
 * A text of many lines (a diff) for a terminal: tabs and newlines stay, every other control character
 * and every bidirectional control is spelled out.
 */
export function displayLines(text: string): string {
  return text.replaceAll("\r\n", "\n").split("\n")
    .map((line) => line.split("\t").map(displayText).join("\t")).join("\n");
}

/** A unified diff, painted line by line. */
export function paintDiff(text: string, paint: Paint): string {
  return text.split("\n").map((line) => {
    if (/^(\+\+\+|---|diff |index )/.test(line)) return paint("bold", line);
    if (line.startsWith("+")) return paint("green", line);
    if (line.startsWith("-")) return paint("red", line);
    return line.startsWith("@@") ? paint("cyan", line) : line;
  }).join("\n");
}

/** `1 ship`, `2 ships`, `3 branches`. */
export function count(amount: number, noun: string): string {
  if (amount === 1) return `1 ${noun}`;
  return `${amount} ${noun}${/(ch|s|x)$/.test(noun) ? "es" : "s"}`;
}

const KiB = 1024;
const units = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `3.1 GiB` */
export function bytesText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= KiB && unit < units.length - 1) {
    amount /= KiB;
    unit++;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/** `3 d 4 h`, `2 h 5 min`, `12 min`, `40 s` */
export function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
}
