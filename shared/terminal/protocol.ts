/**
 * Every frame of the terminal protocol, both ways, as text JSON. The schemas are the source of the
 * form that `docs/PROTOCOL.md` shows with sample bytes. What they cannot say (a style that exists, a
 * run that ends inside its row) `apply.ts` checks.
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { fitsClipboard } from "./notices.ts";

const titleCharactersMax = 1024;
const linkCharactersMax = 2048;
const clusterCharactersMax = 32;
/** Styles a table may hold between two snapshots: every cell its own, twice over, and a frame's more. */
export const stylesMax = 2 * limits.terminalColsMax * limits.terminalRowsMax + 64 * 1024;

/** Bits and fields of the number `modes`. */
export const mode = {
  applicationCursor: 1,
  applicationKeypad: 2,
  bracketedPaste: 4,
  focus: 8,
  /** Two fields of three bits: which mouse events to report, and how to write them. */
  mouseShift: 4,
  mouseEncodingShift: 7,
  fieldMask: 7,
} as const;
const modesMax = 0x3ff;
/** `modes >> mouseShift & fieldMask`. */
export const mouseTracking = { none: 0, x10: 1, vt200: 2, drag: 3, any: 4 } as const;
/** `modes >> mouseEncodingShift & fieldMask`. */
export const mouseEncoding = { legacy: 0, sgr: 1 } as const;

/** Bits of a style's flags; the underline's kind (0 none, 1 single … 5 dashed) stands above them. */
export const flag = {
  bold: 1,
  dim: 2,
  italic: 4,
  blink: 8,
  inverse: 16,
  invisible: 32,
  strikethrough: 64,
  overline: 128,
  underlineShift: 8,
  underlineMask: 7,
} as const;
const flagsMax = 0x5ff;

/** Colours: this one is the terminal's own, 0-255 the palette, `colorRgb + 0xRRGGBB` any other. */
export const colorDefault = -1;
export const colorRgb = 0x1000000;
const colorMax = 2 * colorRgb - 1;

const encoder = new TextEncoder();
const colsSchema = z.int().min(1).max(limits.terminalColsMax);
const rowsSchema = z.int().min(1).max(limits.terminalRowsMax);
const seqSchema = z.int().min(0);

/** What a client may send. `init` comes first and once. */
export const clientFrameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("init"), cols: colsSchema, rows: rowsSchema }),
  z.object({
    type: z.literal("input"),
    data: z.string().refine(
      (data) =>
        data.length <= limits.terminalInputBytesMax &&
        encoder.encode(data).length <= limits.terminalInputBytesMax,
      "must be at most 256 KiB of UTF-8",
    ),
  }),
  z.object({ type: z.literal("resize"), cols: colsSchema, rows: rowsSchema }),
  z.object({ type: z.literal("ack"), seq: seqSchema }),
  z.object({ type: z.literal("resync") }),
]);
export type ClientFrame = z.infer<typeof clientFrameSchema>;

// deno-lint-ignore no-control-regex -- a control character in a cell would reach a user's terminal
const controlFree = /^[^\u0000-\u001f\u007f-\u009f]*$/;
const printable = (charactersMax: number) =>
  z.string().max(charactersMax).regex(controlFree).refine((text) => text.isWellFormed());

const colorSchema = z.int().min(colorDefault).max(colorMax);
const flagsSchema = z.int().min(0).max(flagsMax);
const linkIdSchema = z.int().min(0).max(stylesMax);
/** `[fg, bg, flags]`, with `underlineColor`, with `link` too. */
const styleSchema = z.union([
  z.tuple([colorSchema, colorSchema, flagsSchema]),
  z.tuple([colorSchema, colorSchema, flagsSchema, colorSchema]),
  z.tuple([colorSchema, colorSchema, flagsSchema, colorSchema, linkIdSchema]),
]);
const styleTableSchema = z.array(styleSchema).max(stylesMax);
const linkTableSchema = z.array(z.tuple([linkIdSchema, printable(linkCharactersMax)]))
  .max(stylesMax);

/**
 * `style, content, style, content, …`: content is text (each code point one cell), a number (so many
 * blanks), or `[width, cluster, …]`.
 */
const runSchema = z.array(z.union([
  z.int().min(0).max(stylesMax),
  printable(2 * limits.terminalColsMax),
  z.tuple([z.union([z.literal(1), z.literal(2)])], printable(clusterCharactersMax)),
])).max(2 + 2 * limits.terminalColsMax);

const position = (bound: number) => z.int().min(0).max(bound - 1);
const xSchema = position(limits.terminalColsMax);
const ySchema = position(limits.terminalRowsMax);
const bit = z.union([z.literal(0), z.literal(1)]);
/** `[x, y, visible]`, with shape (0 block, 1 underline, 2 bar) and blink when a program chose them. */
const cursorSchema = z.union([
  z.tuple([xSchema, ySchema, bit]),
  z.tuple([xSchema, ySchema, bit, z.int().min(0).max(2), bit]),
]);
const modesSchema = z.int().min(0).max(modesMax);
const titleSchema = printable(titleCharactersMax);
const bellSchema = z.literal(1);
/** Any text, controls too: nothing shows it, and a terminal gets it in base64. */
const clipboardSchema = z.string().min(1).max(limits.terminalClipboardBytesMax)
  .refine(fitsClipboard, "must be 1 byte to 128 KiB of UTF-8");

/** A whole picture; the client forgets everything before it. */
export const snapshotSchema = z.object({
  type: z.literal("snapshot"),
  seq: seqSchema,
  cols: colsSchema,
  rows: rowsSchema,
  styles: styleTableSchema,
  links: linkTableSchema.optional(),
  grid: z.array(runSchema).max(limits.terminalRowsMax),
  cursor: cursorSchema,
  modes: modesSchema,
  title: titleSchema,
  /** The session rang since the frame before. */
  bell: bellSchema.optional(),
  /** The newest text for the clipboard since the frame before. */
  clipboard: clipboardSchema.optional(),
});
export type Snapshot = z.infer<typeof snapshotSchema>;

/** What changed since the frame before it: links, styles, scroll and rows, applied in this order. */
export const patchSchema = z.object({
  type: z.literal("patch"),
  seq: seqSchema,
  links: linkTableSchema.optional(),
  styles: styleTableSchema.optional(),
  /** Where `styles` begins in the table; absent when there are none. */
  stylesFrom: z.int().min(0).max(stylesMax).optional(),
  /** `[top, bottom, n]`: rows top to bottom move up by n (down when negative); the exposed are blank. */
  scroll: z.tuple([
    ySchema,
    ySchema,
    z.int().min(-limits.terminalRowsMax).max(limits.terminalRowsMax),
  ]).optional(),
  /**
   * Each `[down, x, run…]`: so many rows below the one before (the first: below the top), from column x on.
   * (Where it stands, in numbers that repeat themselves, deflates better than its own number would.)
   */
  rows: z.array(runSchema).max(limits.terminalRowsMax * limits.terminalColsMax / 2).optional(),
  cursor: cursorSchema.optional(),
  modes: modesSchema.optional(),
  title: titleSchema.optional(),
  bell: bellSchema.optional(),
  clipboard: clipboardSchema.optional(),
});
export type Patch = z.infer<typeof patchSchema>;

/** The last frame: the session's exit code. */
export const exitSchema = z.object({ type: z.literal("exit"), code: z.int().min(0).max(255) });

export const serverFrameSchema = z.discriminatedUnion("type", [
  snapshotSchema,
  patchSchema,
  exitSchema,
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;
export type WireStyle = z.infer<typeof styleSchema>;
export type WireCursor = z.infer<typeof cursorSchema>;
export type Run = z.infer<typeof runSchema>;

/** Codes and reasons with which a terminal socket ends. */
export const terminalClose = {
  normal: { code: 1000, reason: "" },
  invalid: { code: 1008, reason: "Invalid terminal message" },
  initTimeout: { code: 1008, reason: "terminal init timeout" },
  binary: { code: 1003, reason: "Binary terminal messages are not supported" },
  overflow: { code: 1009, reason: "Terminal buffer limit exceeded" },
  failed: { code: 1011, reason: "Failed to attach terminal" },
} as const;

/** The client's frame in `text`, or null when it is not one. */
export function decodeClientFrame(text: string): ClientFrame | null {
  const frame = clientFrameSchema.safeParse(jsonOf(text));
  return frame.success ? frame.data : null;
}

/** The server's frame in `text`, or null when it is not one. */
export function decodeServerFrame(text: string): ServerFrame | null {
  const frame = serverFrameSchema.safeParse(jsonOf(text));
  return frame.success ? frame.data : null;
}

/** `text` with what no cell or title may hold left out. */
export function withoutControls(text: string): string {
  // deno-lint-ignore no-control-regex -- see controlFree
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "").toWellFormed();
}

/** `title` as a frame may carry it. */
export function titleForFrame(title: string): string {
  return withoutControls(title.slice(0, titleCharactersMax));
}

/** `uri` when a frame may carry it, else null. */
export function linkForFrame(uri: string): string | null {
  return uri.length > 0 && uri.length <= linkCharactersMax && controlFree.test(uri) &&
      uri.isWellFormed()
    ? uri
    : null;
}

/** `cluster` as a frame may carry it: cut to whole code points. */
export function clusterForFrame(cluster: string): string {
  const clean = withoutControls(cluster);
  if (clean.length <= clusterCharactersMax) return clean;
  return withoutControls(clean.slice(0, clusterCharactersMax)).replace(/\ufffd$/u, "");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
