/** What the user types at `grid attach`: text for the session, or the key that leaves it. */

/** Ctrl-\ sends it; shells and editors rarely want it, and it needs no prefix. */
export const detachKey = { code: "\x1c", name: "Ctrl-\\" } as const;

const escape = "\x1b";
const pasteBegins = "\x1b[200~";
const pasteEnds = "\x1b[201~";
/** Characters of one input frame: under 256 KiB of UTF-8 whatever they are. */
const pieceCharactersMax = 64 * 1024;

export interface Typed {
  /** Text for the session, in pieces that fit a frame each. */
  readonly pieces: readonly string[];
  readonly detach: boolean;
}

/**
 * Turns the bytes of a terminal in raw mode into text. A detach key inside a paste is text. The marks
 * around a paste may come in parts, as terminals give at most a few KiB at once: what was typed is
 * passed on without waiting for more, and only how much of a mark has been seen is remembered.
 */
export class UserInput {
  readonly #decoder = new TextDecoder();
  #pasting = false;
  /** Characters of the mark that decides next, as far as they have come. */
  #matched = 0;
  /** Part of this paste was dropped: without its bracket the rest would be typed commands. */
  #droppedPaste = false;
  /** The beginning was not dropped: the program still waits for an end. */
  #owesEnd = false;

  /** Takes the next bytes; while they are not `wanted` all but the detach key is dropped. */
  take(bytes: Uint8Array, wanted = true): Typed {
    const text = this.#decoder.decode(bytes, { stream: true });
    let kept = this.#bracket(wanted);
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const character = text[i]!;
      if (character === detachKey.code && !this.#pasting) {
        return { pieces: piecesOf(kept + this.#keep(text.slice(from, i), wanted)), detach: true };
      }
      if (!this.#completesMark(character)) continue;
      kept += this.#keep(text.slice(from, i + 1), wanted);
      from = i + 1;
      this.#pasting = !this.#pasting;
      this.#droppedPaste = this.#pasting && !wanted;
    }
    return { pieces: piecesOf(kept + this.#keep(text.slice(from), wanted)), detach: false };
  }

  /** Notes that a paste is being cut off, and gives the end that one cut off before is owed. */
  #bracket(wanted: boolean): string {
    if (wanted) {
      const owed = this.#owesEnd ? pasteEnds : "";
      this.#owesEnd = false;
      return owed;
    }
    this.#owesEnd ||= this.#pasting && !this.#droppedPaste;
    this.#droppedPaste = this.#pasting;
    return "";
  }

  #keep(text: string, wanted: boolean): string {
    return wanted && !this.#droppedPaste ? text : "";
  }

  /** Whether `character` is the last of the mark that is awaited. Its first is not in it again. */
  #completesMark(character: string): boolean {
    const mark = this.#pasting ? pasteEnds : pasteBegins;
    if (character === mark[this.#matched]) this.#matched++;
    else this.#matched = character === escape ? 1 : 0;
    if (this.#matched < mark.length) return false;
    this.#matched = 0;
    return true;
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
