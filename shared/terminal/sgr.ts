/** Styles as Select Graphic Rendition sequences (ECMA-48 8.3.117 and xterm's extensions). */
import type { Style } from "./inks.ts";
import { colorRgb, flag } from "./protocol.ts";

/** On and off codes of the flags; bold and dim share their off code. */
const flagCodes = [
  [flag.bold, 1, 22],
  [flag.dim, 2, 22],
  [flag.italic, 3, 23],
  [flag.blink, 5, 25],
  [flag.inverse, 7, 27],
  [flag.invisible, 8, 28],
  [flag.strikethrough, 9, 29],
  [flag.overline, 53, 55],
] as const;

/** The shortest sequence that turns the pen from one style to another; links are not its business. */
export function sgrBetween(from: Style, to: Style): string {
  const change = changeCodes(from, to);
  if (change.length === 0) return "";
  const fresh = freshCodes(to);
  const codes = fresh.join(";").length < change.join(";").length ? fresh : change;
  return `\x1b[${codes.join(";")}m`;
}

const underlineOf = (style: Style) => style.flags >> flag.underlineShift & flag.underlineMask;

function freshCodes(to: Style): string[] {
  const codes = flagCodes.filter(([bit]) => to.flags & bit).map(([, on]) => String(on));
  if (underlineOf(to) !== 0) codes.push(underlineCode(underlineOf(to)));
  if (to.fg !== -1) codes.push(colorCode(to.fg, 30));
  if (to.bg !== -1) codes.push(colorCode(to.bg, 40));
  if (to.underlineColor !== -1) codes.push(underlineColorCode(to.underlineColor));
  return codes.length === 0 ? [""] : ["0", ...codes];
}

function changeCodes(from: Style, to: Style): string[] {
  const codes: string[] = [];
  const lost = from.flags & ~to.flags;
  // Their shared off code takes both, so what stays is put back.
  const dimmed = (lost & (flag.bold | flag.dim)) !== 0;
  const had = dimmed ? from.flags & ~(flag.bold | flag.dim) : from.flags;
  if (dimmed) codes.push("22");
  for (const [bit, on, off] of flagCodes) {
    if (to.flags & bit & ~had) codes.push(String(on));
    else if (off !== 22 && lost & bit) codes.push(String(off));
  }
  if (underlineOf(from) !== underlineOf(to)) codes.push(underlineCode(underlineOf(to)));
  if (from.fg !== to.fg) codes.push(colorCode(to.fg, 30));
  if (from.bg !== to.bg) codes.push(colorCode(to.bg, 40));
  if (from.underlineColor !== to.underlineColor) codes.push(underlineColorCode(to.underlineColor));
  return codes;
}

function underlineCode(kind: number): string {
  if (kind === 0) return "24";
  return kind === 1 ? "4" : `4:${kind}`;
}

function colorCode(color: number, base: 30 | 40): string {
  if (color === -1) return String(base + 9);
  if (color < 8) return String(base + color);
  if (color < 16) return String(base + 60 + color - 8);
  return color < 256 ? `${base + 8};5;${color}` : `${base + 8};2;${rgb(color).join(";")}`;
}

function underlineColorCode(color: number): string {
  if (color === -1) return "59";
  return color < 256 ? `58:5:${color}` : `58:2::${rgb(color).join(":")}`;
}

function rgb(color: number): [number, number, number] {
  const value = color - colorRgb;
  return [value >> 16 & 255, value >> 8 & 255, value & 255];
}
