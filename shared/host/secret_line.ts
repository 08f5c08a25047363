/** One hidden line as it is typed, byte by byte: pure, so that it needs no terminal to be tested. */

/** More than any password or token; what goes beyond is refused, not cut. */
export const secretBytesMax = 4096;

export type SecretStep =
  | { readonly kind: "more" }
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C, or Ctrl-D on an empty line. */
  | { readonly kind: "cancelled" };

const more: SecretStep = { kind: "more" };
const key = { ctrlC: 3, ctrlD: 4, backspace: 8, newline: 10, enter: 13, ctrlU: 21, escape: 27 };
const deleted = 127;

/** The line editor of a terminal in raw mode: backspace, Ctrl-U, Ctrl-C, Ctrl-D; other keys do nothing. */
export class SecretLine {
  #bytes: number[] = [];
  /** Where in an escape sequence (ECMA-48: an arrow key, say) the input stands. */
  #escape: "none" | "started" | "sequence" = "none";

  /** Takes one byte. Throws when the line is too long, or no UTF-8 when it ends. */
  push(byte: number): SecretStep {
    if (this.#skipEscape(byte)) return more;
    switch (byte) {
      case key.newline:
      case key.enter:
        return { kind: "line", text: decodeSecret(this.#bytes) };
      case key.ctrlC:
        return { kind: "cancelled" };
      case key.ctrlD:
        return this.#bytes.length === 0 ? { kind: "cancelled" } : more;
      case key.ctrlU:
        this.#bytes = [];
        return more;
      case key.backspace:
      case deleted:
        this.#eraseCharacter();
        return more;
      case key.escape:
        this.#escape = "started";
        return more;
    }
    if (byte < 0x20) return more;
    this.#bytes.push(byte);
    if (this.#bytes.length > secretBytesMax) throw tooLong();
    return more;
  }

  #skipEscape(byte: number): boolean {
    if (byte === key.ctrlC || byte === key.enter || byte === key.newline) this.#escape = "none";
    switch (this.#escape) {
      case "none":
        return false;
      case "started":
        // `[` and `O` open a sequence; any other byte is the whole of it.
        this.#escape = byte === 0x5b || byte === 0x4f ? "sequence" : "none";
        return true;
      case "sequence":
        if (byte >= 0x40 && byte <= 0x7e) this.#escape = "none";
        return true;
    }
  }

  /** UTF-8: continuation bytes go with the byte that leads them. */
  #eraseCharacter(): void {
    let last = this.#bytes.pop();
    while (last !== undefined && (last & 0xc0) === 0x80) last = this.#bytes.pop();
  }
}

/** A line's bytes as text. Throws when they are no UTF-8; the message holds nothing of them. */
export function decodeSecret(bytes: readonly number[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
  } catch {
    throw new Error("what was typed is not UTF-8 text: check the terminal's encoding");
  }
}

/** What is said of a line beyond `secretBytesMax`. */
export function tooLong(): Error {
  return new Error(`what was typed is longer than ${secretBytesMax} bytes, more than any secret`);
}
