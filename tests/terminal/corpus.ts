/** What sessions write in the oracle's tests: bytes for a terminal, by what they are about. */
import { below, seeded } from "./random_grid.ts";

const csi = "\x1b[";
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

function everySgr(): string {
  const codes = [
    ...range(0, 9),
    21,
    53,
    ...range(30, 37),
    ...range(90, 97),
    ...range(40, 47),
    ...range(100, 107),
  ];
  const single = codes.map((code) => `${csi}${code}m${code}${csi}m `).join("");
  const underlines = range(1, 5).map((kind) =>
    `${csi}4:${kind};58:2::${kind}:20:30mu${kind}${csi}m `
  )
    .join("");
  const mixed = range(0, 15).map((bits) =>
    `${csi}${bits & 1 ? "1;" : ""}${bits & 2 ? "3;" : ""}${bits & 4 ? "4;" : ""}${
      bits & 8 ? "7;" : ""
    }38;5;${bits * 16}mx`
  ).join("");
  return `${single}\r\n${underlines}\r\n${mixed}${csi}m\r\n${csi}1mbold${csi}2mdim${csi}22mneither${csi}m`;
}

function colourRamps(): string {
  const row = (y: number) =>
    range(0, 59).map((x) => `${csi}48;2;${x * 4};${y * 10};${255 - x * 4}m `).join("") +
    `${csi}m\r\n`;
  const palette = range(0, 255).map((n) => `${csi}48;5;${n}m${n % 10}`).join("");
  return range(0, 9).map(row).join("") + palette + `${csi}m`;
}

function garbage(seed: number): string {
  const random = seeded(seed);
  // Sequences that a terminal answers would be typed into the session; those are left out. So are scroll
  // regions: tmux 3.3a deletes lines outside of one in its grid, which no terminal does that it tells to.
  const finals = "ABCDEFGHJKLMPSTXZ@`adefghlm";
  let out = "";
  for (let i = 0; i < 600; i++) {
    const kind = random();
    if (kind < 0.5) {
      const params = range(0, below(random, 3)).map(() => below(random, 30)).join(";");
      out += `${csi}${params}${finals[below(random, finals.length)]}`;
    } else if (kind < 0.6) out += `\x1b${"78DEM"[below(random, 5)]}`;
    else if (kind < 0.7) out += "\r\n\t\b"[below(random, 4)];
    else if (kind < 0.75) out += ["é", "e\u0301", "א", "─"][below(random, 4)];
    else out += String.fromCharCode(0x21 + below(random, 94));
  }
  return out + `${csi}m${csi}r${csi}4l`;
}

/**
 * Name and bytes. No wide character is overwritten by half: tmux 3.3a then keeps in its grid a whole
 * one with something else on its second half, which no screen can show.
 */
export const corpus: ReadonlyArray<readonly [string, string]> = [
  ["every SGR", everySgr()],
  ["24-bit and palette ramps", colourRamps()],
  [
    "wide, combining, joined and right-to-left text",
    "漢字かな한글 ｆｕｌｌ\r\ne\u0301a\u0308\u0323 n\u0303\r\n👩\u200d🚀|👨\u200d👩\u200d👧|🏳\ufe0f\u200d🌈|\r\n" +
    "👍🏽|🇯🇵|☺\ufe0f|☺|1\ufe0f\u20e3|\r\nשלום العربية\r\n\u0e01\u0e33|\u1100\u1161\u11a8|\u0915\u094d\u0937|",
  ],
  [
    "wide characters at the margin",
    "漢".repeat(45) + "\r\n" + "a".repeat(79) + "漢b\r\n" + "😀".repeat(41) + "x",
  ],
  [
    "wrap at the margin",
    "x".repeat(80) + "y".repeat(81) + "\r\n" + "z".repeat(79) + "\b\b!" +
    `${csi}?7l${"w".repeat(100)}${csi}?7h`,
  ],
  [
    "scroll regions",
    range(1, 24).map((n) => `${csi}${n};1Hline ${n}`).join("") +
    `${csi}5;15r${csi}15;1H\n\nnew${csi}5;1H\x1bM\x1bMup${csi}3S${csi}2T${csi}r${csi}20;1H`,
  ],
  [
    "insert and delete",
    range(1, 20).map((n) => `${csi}${n};1H${"abcdefghij".repeat(4)}${n}`).join("") +
    `${csi}4;5H${csi}3@${csi}6;5H${csi}4P${csi}8;1H${csi}2L${csi}12;1H${csi}3M${csi}15;5H${csi}4hIN${csi}4l${csi}17;8H${csi}6X${csi}18;10H${csi}1K${csi}19;10H${csi}K`,
  ],
  ["tabs", "a\tb\tc\r\n\x1b[3g\x1b[5G\x1bH\x1b[20G\x1bH\ra\tb\tc\x1b[2Zd"],
  ["line drawing", "\x1b(0lqqqwqqqk\r\nx   x   x\r\nmqqqvqqqj\x1b(B ─│┌┐└┘ ascii"],
  ["alternate screen left again", `before${csi}?1049h${csi}2J${csi}Hinside${csi}?1049lafter`],
  ["alternate screen", `before${csi}?1049h${csi}44m${csi}2J${csi}5;5Hblue${csi}m`],
  ["screen alignment", `\x1b#8${csi}10;10Hhole${csi}11;1H${csi}2K`],
  [
    "erasing with a background",
    `${csi}42m${csi}2J${csi}5;5H${csi}K${csi}41m${csi}8;10H${csi}1K${csi}10;1Htext${csi}J${csi}m`,
  ],
  ["cursor hidden, shaped, saved", `${csi}?25l${csi}3 q\x1b7${csi}10;10Hx\x1b8y`],
  [
    "a log",
    range(1, 300).map((n) => `${csi}3${n % 8}m${n}${csi}m line ${"=".repeat(n % 50)}\r\n`).join(""),
  ],
  ["garbage 1", garbage(1)],
  ["garbage 2", garbage(2)],
  ["garbage 3", garbage(3)],
];
