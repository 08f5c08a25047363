/** The corpus: how text looks, and how wide it is. */
import { csi, type Entry, range } from "./bytes.ts";

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
    range(0, 59).map((x) => `${csi}48;2;${x * 4};${y * 10};${255 - x * 4}m `)
      .join("") +
    `${csi}m\r\n`;
  const palette = range(0, 255).map((n) => `${csi}48;5;${n}m${n % 10}`).join(
    "",
  );
  return range(0, 9).map(row).join("") + palette + `${csi}m`;
}

const text = "漢字かな한글 ｆｕｌｌ\r\ne\u0301a\u0308\u0323 n\u0303\r\n" +
  "👩\u200d🚀|👨\u200d👩\u200d👧|🏳\ufe0f\u200d🌈|\r\n" +
  "👍🏽|🇯🇵|☺\ufe0f|☺|1\ufe0f\u20e3|\r\nשלום العربية\r\n" +
  "\u0e01\u0e33|\u1100\u1161\u11a8|\u0915\u094d\u0937|";

export const looks: readonly Entry[] = [
  ["every SGR", everySgr()],
  ["24-bit and palette ramps", colourRamps()],
  [
    "colours with colons, and colours cut short",
    [
      ...[
        `38:2::255:128:0`,
        `48:2:1:2:3`,
        `38:5:200`,
        `58:5:9;4`,
        `38;2;300;1;1`,
        `38;2;1;1`,
      ],
      ...[
        `38`,
        `48;5`,
        `38;5;256`,
        `1;;31`,
        `;`,
        `4:0`,
        `4:9`,
        `107;1;4:3;58;2;1;2;3`,
      ],
    ].map((sgr) => `${csi}${sgr}m${sgr.replaceAll(";", ".")}${csi}m `).join(
      "\r\n",
    ),
  ],
  ["wide, combining, joined and right-to-left text", text],
  [
    "families, flags, keycaps, skins and tags",
    [
      "👨\u200d👩\u200d👧\u200d👦|👩🏽\u200d💻|🧑\u200d🤝\u200d🧑|❤\ufe0f\u200d🔥|🏴\u200d☠\ufe0f|",
      "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}|🇩🇪🇫🇷|🇦|#\ufe0f\u20e3|☺\ufe0e|",
      "\u200d👩|a\u200db|👩\u200d|\u200b|\u2060|\u00ad|\ufeff|",
      "\u0301alone|z" + "\u0301".repeat(12) + "|" + "👩\u200d".repeat(9) + "|",
    ].join("\r\n"),
  ],
  [
    "wide characters at the margin",
    "漢".repeat(45) + "\r\n" + "a".repeat(79) + "漢b\r\n" + "😀".repeat(41) +
    "x",
  ],
  [
    "a combining mark after a full row, and after a jump",
    "x".repeat(80) + "\u0301" +
    `${csi}5;5Hab${csi}5;6H\u0308${csi}7;1H\u0301${csi}8;79H漢\u0301y`,
  ],
  [
    "links",
    "\x1b]8;id=1;https://one.example/\x1b\\one\x1b]8;;\x1b\\ plain " +
    "\x1b]8;;https://two.example/?a=1;2\x07two\r\nover a line\x1b]8;;\x07\r\n" +
    `${csi}31;4m\x1b]8;;file:///tmp/x\x1b\\red${csi}m still\x1b]8;;\x1b\\ \x1b]8;;\x07end`,
  ],
  [
    "a log of wide and combined text",
    range(1, 200).map((n) =>
      `${csi}3${n % 8}m漢字${n}${csi}m ${"かe\u0301".repeat(n % 41)}${"x".repeat(n % 3)}\r\n`
    ).join(""),
  ],
  [
    "wide and combined text that wraps and scrolls",
    "각|क्ष|漢a漢b😀é\u0301".repeat(300),
  ],
  [
    "wide text in single lines' scrolls",
    range(1, 60).map((n) => `\n\r${n % 2 ? "ष" : "漢"}|${n}`).join(""),
  ],
];
