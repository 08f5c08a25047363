/**
 * Cuts a stream of bytes between characters. The decoder of @xterm/headless 6.0.0 loses a character that
 * comes in two pieces when the first ends in 0x80: a dash or a joiner, E2 80 …, cut after the 80.
 */

const empty = new Uint8Array(0);

export class WholeCharacters {
  #held: Uint8Array = empty;

  /** The bytes that may be passed on: those held back before and `bytes`, without a character begun. */
  take(bytes: Uint8Array): Uint8Array {
    const all = this.#held.length === 0 ? bytes : joined(this.#held, bytes);
    const end = all.length - begunLength(all);
    // A copy: the caller may use its buffer again.
    this.#held = end === all.length ? empty : all.slice(end);
    return all.subarray(0, end);
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

/** How many bytes at the end, three at most, begin a character of UTF-8 that needs more. */
function begunLength(bytes: Uint8Array): number {
  for (let length = 1; length <= 3 && length <= bytes.length; length++) {
    const byte = bytes[bytes.length - length]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > length ? length : 0;
  }
  return 0;
}
