/** What the user types at `grid attach`: text for the session, or the key that leaves it. */

/** Ctrl-\ sends it; shells and editors rarely want it, and it needs no prefix. */
export const detachKey = { code: "\x1c", name: "Ctrl-\\" } as const;

const pasteBegins = "\x1b[200~";
const pasteEnds = "\x1b[201~";
/** Characters of one input frame: under 256 KiB of UTF-8 whatever they are. */
const pieceCharactersMax = 64 * 1024;

export interface Typed {
  /** Text for the session, in pieces that fit a frame each. */
  readonly pieces: readonly string[];
  readonly detach: boolean;
}

/** Turns the bytes of a terminal in raw mode into text. A detach key inside a paste is text. */
export class UserInput {
  readonly #decoder = new TextDecoder();
  #pasting = false;

  take(bytes: Uint8Array): Typed {
    const text = this.#decoder.decode(bytes, { stream: true });
    let rest = text;
    let sent = "";
    while (rest !== "") {
      const mark = this.#pasting ? pasteEnds : pasteBegins;
      const end = rest.indexOf(mark);
      const part = end === -1 ? rest : rest.slice(0, end + mark.length);
      const key = this.#pasting ? -1 : part.indexOf(detachKey.code);
      if (key !== -1) return { pieces: piecesOf(sent + part.slice(0, key)), detach: true };
      if (end !== -1) this.#pasting = !this.#pasting;
      sent += part;
      rest = rest.slice(part.length);
    }
    return { pieces: piecesOf(sent), detach: false };
  }
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + pieceCharactersMax, text.length);
    // Not between the halves of a surrogate pair.
    if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1]!)) to--;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
