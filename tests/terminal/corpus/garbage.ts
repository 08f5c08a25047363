/** The corpus: what no program means to write, from a seed. */
import { below, seeded } from "../random_grid.ts";
import { csi, type Entry, range } from "./bytes.ts";

/** Well-formed sequences with any numbers in them. */
function sequences(seed: number): string {
  const random = seeded(seed);
  const finals = "ABCDEFGHJKLMPSTXZ@`abcdefghlmnrstu";
  let out = "";
  for (let i = 0; i < 600; i++) {
    const kind = random();
    if (kind < 0.5) {
      const params = range(0, below(random, 3)).map(() => below(random, 30))
        .join(";");
      out += `${csi}${random() < 0.05 ? "?" : ""}${params}${finals[below(random, finals.length)]}`;
    } else if (kind < 0.6) out += `\x1b${"78DEMHc=>"[below(random, 9)]}`;
    else if (kind < 0.7) out += "\r\n\t\b\v\f\x0e\x0f"[below(random, 8)];
    else if (kind < 0.75) out += ["é", "e\u0301", "א", "─"][below(random, 4)];
    else out += String.fromCharCode(0x21 + below(random, 94));
  }
  return out;
}

/** Any bytes; a share of them escapes, so that sequences begin, and never end well. */
function bytes(seed: number, escapes: number): Uint8Array {
  const random = seeded(seed);
  return Uint8Array.from(
    { length: 6_000 },
    () =>
      random() < escapes ? 0x1b : random() < 0.3 ? 0x20 + below(random, 95) : below(random, 256),
  );
}

const invalidUtf8 = [
  [0x80, 0xbf, 0xfe, 0xff],
  [0xc0, 0x80, 0xc1, 0xbf], // overlong
  [0xe0, 0x80, 0x80, 0xf0, 0x80, 0x80, 0x80],
  [0xed, 0xa0, 0x80, 0xed, 0xbf, 0xbf], // surrogates
  [0xf4, 0x90, 0x80, 0x80, 0xf8, 0x88, 0x80, 0x80, 0x80], // past the last code point
  [0xc3, 0x28, 0xe6, 0xbc, 0x28, 0xf0, 0x9f, 0x98, 0x28], // cut short
  [0xc3, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0xa9], // with a sequence in the middle
  [0xef, 0xbf, 0xbe, 0xef, 0xbf, 0xbf, 0xf4, 0x8f, 0xbf, 0xbf], // noncharacters
  [0xee, 0x80, 0x80, 0xf3, 0xb0, 0x80, 0x80], // private use
];

export const garbage: readonly Entry[] = [
  ["sequences of seed 1", sequences(1)],
  ["sequences of seed 2", sequences(2)],
  ["sequences of seed 3", sequences(3)],
  ["sequences of seed 4", sequences(4)],
  ["any bytes of seed 5", bytes(5, 0)],
  ["any bytes of seed 6, with escapes", bytes(6, 0.05)],
  ["any bytes of seed 7, with many escapes", bytes(7, 0.2)],
  [
    "invalid UTF-8",
    Uint8Array.from(
      invalidUtf8.flatMap((piece) => [0x3c, ...piece, 0x3e, 0x0d, 0x0a]),
    ),
  ],
];
