/**
 * What a session does to the user beside the screen: rings, and sets the clipboard. Neither is a state
 * of the grid: each is said once, in the next frame, and no snapshot repeats it. A session can only
 * write the clipboard; that it asks for it (`OSC 52;c;?`) reaches nobody.
 */
import { limits } from "../limits.ts";

/** What happened since the frame before. */
export interface Notices {
  readonly bell: boolean;
  /** The newest text for the clipboard, never empty; null when none was set. Not for any log. */
  readonly clipboard: string | null;
}

export const noNotices: Notices = { bell: false, clipboard: null };

/** The fields of a snapshot or patch that carry notices. */
export interface NoticeFields {
  readonly bell?: 1 | undefined;
  readonly clipboard?: string | undefined;
}

/** The fields for `notices`; none when there are none. */
export function noticeFields({ bell, clipboard }: Notices): NoticeFields {
  return { ...(bell ? { bell: 1 } : {}), ...(clipboard !== null ? { clipboard } : {}) };
}

export function noticesOf({ bell, clipboard }: NoticeFields): Notices {
  return { bell: bell === 1, clipboard: clipboard ?? null };
}

/** The bytes that make an xterm-like terminal ring and take the text (xterm's ctlseqs: OSC 52). */
export function noticeBytes({ bell, clipboard }: Notices): string {
  const copied = clipboard === null
    ? ""
    : `\x1b]52;c;${new TextEncoder().encode(clipboard).toBase64()}\x1b\\`;
  return copied + (bell ? "\x07" : "");
}

/** What an OSC 52 asks for: a text to take, one that is too large to take, or nothing that is done. */
export type ClipboardRequest =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too large" }
  | { readonly kind: "none" };

/** Names of selections that mean a user's clipboard; `q` and `0`-`7` are xterm's own. */
const selectionForm = /^[cps]|^$/;
const encodedCharactersMax = 4 * Math.ceil(limits.terminalClipboardBytesMax / 3);

/**
 * Reads the data of an OSC 52, `<selections>;<base64>`. A question, an empty text and what is no base64
 * are nothing: a session neither reads nor clears the clipboard. Bytes that are no UTF-8 are replaced,
 * as the terminals do it.
 */
export function clipboardRequest(data: string): ClipboardRequest {
  const split = data.indexOf(";");
  const encoded = data.slice(split + 1);
  if (split === -1 || !selectionForm.test(data.slice(0, split)) || encoded === "?") {
    return { kind: "none" };
  }
  // Before decoding it: such a text is bounded only by what the emulator takes.
  if (encoded.length > encodedCharactersMax) return { kind: "too large" };
  const bytes = decoded(encoded);
  if (bytes === null || bytes.length === 0) return { kind: "none" };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return fitsClipboard(text) ? { kind: "text", text } : { kind: "too large" };
}

/** Whether a frame may carry `text`. */
export function fitsClipboard(text: string): boolean {
  return text.length > 0 && text.length <= limits.terminalClipboardBytesMax &&
    text.isWellFormed() &&
    new TextEncoder().encode(text).length <= limits.terminalClipboardBytesMax;
}

function decoded(base64: string): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return null;
  }
}
