/**
 * Cells as @xterm/headless 6.0.0 packs them, three words each: content, foreground, background. What
 * the words do not hold stands beside them, by column. Only `emulator.ts` reads them.
 */
import { cell, type Inks, type Style } from "../../shared/terminal/inks.ts";
import {
  clusterForFrame,
  colorDefault,
  colorRgb,
  flag,
  linkForFrame,
} from "../../shared/terminal/protocol.ts";

export const wordsPerCell = 3;
export const content = { valueMask: 0x1fffff, combined: 1 << 21, widthShift: 22 } as const;
const color = {
  modeMask: 0x3000000,
  rgb: 0x3000000,
  paletteMask: 0xff,
  rgbMask: 0xffffff,
} as const;
const fgBits = [
  [0x4000000, flag.inverse],
  [0x8000000, flag.bold],
  [0x20000000, flag.blink],
  [0x40000000, flag.invisible],
  [0x80000000, flag.strikethrough],
] as const;
const fgUnderline = 0x10000000;
/** Where the bits above stand. */
const flagBits = 0xfc000000;
const bgBits = [
  [0x4000000, flag.italic],
  [0x8000000, flag.dim],
  [0x40000000, flag.overline],
] as const;
export const bgExtended = 0x10000000;
const extUnderlineShift = 26;

/** An underline's kind and colour, and a link's number. */
export interface ExtendedLook {
  readonly _ext: number;
  readonly _urlId: number;
}
export interface PackedLine {
  readonly _data: Uint32Array;
  readonly _combined: Readonly<Record<number, string>>;
  readonly _extendedAttrs: Readonly<Record<number, ExtendedLook | undefined>>;
}

/** How a cell looks, in its two words and what stands beside them. */
export interface PackedLook {
  readonly fg: number;
  readonly bg: number;
  readonly extended: ExtendedLook;
  /** Where the cell leads to. */
  readonly uri: string | undefined;
}

/** The style of a cell that its two words tell whole. */
export function simpleStyleOf(inks: Inks, fg: number, bg: number): number {
  return inks.simpleStyle(colorOf(fg), colorOf(bg), flagsOf(fg, bg, 0));
}

export function styleOf(inks: Inks, { fg, bg, extended, uri }: PackedLook): Style {
  const flags = flagsOf(fg, bg, extended._ext);
  const link = uri === undefined ? null : linkForFrame(uri);
  return {
    fg: colorOf(fg),
    bg: colorOf(bg),
    flags,
    // Without an underline its colour shows nowhere, and the library forgets it.
    underlineColor: flags >> flag.underlineShift !== 0
      ? underlineColorOf(extended._ext)
      : colorDefault,
    link: link === null ? 0 : inks.link(link),
  };
}

function flagsOf(fg: number, bg: number, ext: number): number {
  if (((fg | bg) & flagBits) === 0) return 0;
  let flags = 0;
  for (const [bit, own] of fgBits) if (fg & bit) flags |= own;
  for (const [bit, own] of bgBits) if (bg & bit) flags |= own;
  if (fg & fgUnderline) {
    const kind = ext >> extUnderlineShift & flag.underlineMask;
    flags |= (kind === 0 ? 1 : Math.min(kind, 5)) << flag.underlineShift;
  }
  return flags;
}

function colorOf(word: number): number {
  const kind = word & color.modeMask;
  if (kind === 0) return colorDefault;
  return kind === color.rgb ? colorRgb + (word & color.rgbMask) : word & color.paletteMask;
}

/** The library writes SGR 59 as all ones, which is also white; the reset is what programs send. */
function underlineColorOf(ext: number): number {
  const all = color.modeMask | color.rgbMask;
  return (ext & all) === all ? colorDefault : colorOf(ext);
}

/** The code of a cell of one code point. */
export function single(value: number, width: number): number {
  const shown = value < 0x20 || (value >= 0x7f && value < 0xa0) ||
      (value >= 0xd800 && value < 0xe000)
    ? cell.blank
    : value;
  return width === 2 ? shown | cell.wide : shown;
}

/** The code of a cell of several. */
export function combined(inks: Inks, text: string | undefined, width: number): number {
  // A joiner that joins nothing shows nothing, and tmux sends it when it redraws, not when it comes.
  const cluster = clusterForFrame(text ?? "").replace(/\u200d+$/, "");
  return cluster === "" ? single(0, width) : inks.code(cluster, width === 2 ? 2 : 1);
}
