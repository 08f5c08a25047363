/** The corpus: modes, character sets, strings, and what is cut off in the middle. */
import { at, csi, type Entry, osc, range, st } from "./bytes.ts";

const around = (set: string, reset: string) => `before${set}inside${reset}after`;

export const modesAndStrings: readonly Entry[] = [
  [
    "line drawing",
    "\x1b(0lqqqwqqqk\r\nx   x   x\r\nmqqqvqqqj\x1b(B ─│┌┐└┘ ascii",
  ],
  [
    "every character of the drawing set",
    `\x1b(0${String.fromCharCode(...range(0x20, 0x7e))}\x1b(B` +
    `\r\n${String.fromCharCode(...range(0x5f, 0x7e))}`,
  ],
  [
    "shifts: SO, SI, SS2, SS3, LS2",
    "\x1b)0a\x0elqk\x0fb\x1b*0\x1bNqc\x1b+0\x1bOqd\x1bnqe\x1boqf\x1b}\x1b~g",
  ],
  ["national sets", "\x1b(A#$\x1b(K[]\x1b(4#\x1b(B#\x1b%@\u00e9\x1b%G\u00e9"],
  [
    "alternate screen left again",
    around(`${csi}?1049h${csi}2J${csi}H`, `${csi}?1049l`),
  ],
  [
    "alternate screen",
    `before${csi}?1049h${csi}44m${csi}2J${csi}5;5Hblue${csi}m`,
  ],
  [
    "alternate screen of 47 and 1047",
    around(`${csi}?47h`, `${csi}?47l`) + around(`${csi}?1047h`, `${csi}?1047l`),
  ],
  [
    "saved cursor of 1048",
    `${at(5, 5)}${csi}1;32m${csi}?1048h${at(1, 1)}${csi}mx${csi}?1048ly`,
  ],
  [
    "twice in, twice out",
    around(`${csi}?1049h1${csi}?1049h2`, `${csi}?1049l3${csi}?1049l4`),
  ],
  [
    "cursor hidden, shaped, saved",
    `${csi}?25l${csi}3 q\x1b7${csi}10;10Hx\x1b8y`,
  ],
  ...range(0, 7).map((
    shape,
  ): Entry => [`cursor look ${shape}`, `${csi}${shape} q${csi}?25hx`]),
  ["cursor blinking by its mode", `${csi}?12h${csi}?25hx${csi}?12l`],
  ...[9, 1000, 1001, 1002, 1003].map((
    m,
  ): Entry => [`mouse ${m}`, `${csi}?${m}hm`]),
  ["mouse encodings", `${csi}?1003;1005;1006;1015;1016hm`],
  [
    "mouse on and off again",
    `${csi}?1000h${csi}?1002h${csi}?1003h${csi}?1006h${csi}?1003l${csi}?1006lm`,
  ],
  ["focus and bracketed paste", `${csi}?1004h${csi}?2004hm`],
  [
    "focus and bracketed paste off again",
    `${csi}?1004h${csi}?2004h${csi}?1004l${csi}?2004lm`,
  ],
  ["keypad and cursor keys", `\x1b=${csi}?1hm\x1b>`],
  [
    "synchronized output, and one that never ends",
    `${csi}?2026ha${csi}?2026lb${csi}?2026hc`,
  ],
  [
    "modes that nobody has",
    `${csi}?9999h${csi}99h${csi}?1;9999;25hx${csi}?1lx`,
  ],
  [
    "modes saved and restored",
    `${csi}?1000;2004s${csi}?2004h${csi}?1000;2004rx`,
  ],
  [
    "questions",
    `${csi}c${csi}>c${csi}=c${csi}5n${csi}6n${csi}?6n${csi}18t${csi}14t${csi}>q` +
    `${csi}?2026$p${csi}4$p${osc}10;?${st}${osc}11;?${st}${osc}4;1;?${st}\x1bP$qm${st}\x1bP+q544e${st}\x1bZx`,
  ],
  [
    "colours of the palette and the screen",
    `${osc}4;1;rgb:00/ff/00${st}${csi}31mred?${csi}m${osc}10;#112233\x07` +
    `${osc}11;rgb:ffff/0000/0000\x07${osc}12;blue\x07text${osc}104;1\x07${csi}31mred${csi}m${osc}104\x07` +
    `${osc}110\x07${osc}111\x07${osc}112\x07`,
  ],
  [
    "clipboard, folder, marks, notifications, images",
    `${osc}52;c;aGVsbG8=\x07a${osc}7;file:///tmp${st}b` +
    `${osc}133;A${st}c${osc}9;done\x07d${osc}777;notify;a;b\x07e${osc}1337;File=inline=1:AAAA\x07f${osc}99999;x\x07g`,
  ],
  [
    "strings: DCS, APC, PM, SOS, and sixel",
    `a\x1bPqstring${st}b\x1b_apc${st}c\x1b^pm${st}d\x1bXsos${st}e` +
    `\x1bPq#0;2;0;0;0#0~~@@vv@@~~@@~~$${st}f\x1b_Ga=T;AAAA${st}g`,
  ],
  [
    "tmux's own: passthrough, a window's name",
    `a\x1bPtmux;\x1b\x1b[31m${st}b\x1bkname${st}c`,
  ],
  [
    "aborted by CAN, SUB and ESC",
    `a${csi}31\x18b${csi}31\x1ac${csi}31\x1b[1md${csi}m${osc}2;x\x18e\x1bPx\x1af` +
    `${osc}2;y\x1b[32mg\x1b\x18h\x1b(\x18i`,
  ],
  [
    "overlong",
    `a${csi}${"1;".repeat(200)}mb${csi}m${csi}${"9".repeat(500)}mc${osc}2;${
      "t".repeat(5000)
    }\x07d` +
    `\x1bP${"x".repeat(5000)}${st}e${csi}${"!".repeat(50)}pf`,
  ],
  [
    "private, colons and intermediates where none belong",
    `a${csi}?31mb${csi}>1mc${csi}<1md${csi}=1me${csi}1:2Hf` +
    `${csi}1 mg${csi}1$mh${csi}#{i${csi}1;2;#|j${csi}#}k${csi}>4;2ml${csi}>1un`,
  ],
  [
    "8-bit C1 as UTF-8, and alone",
    "a\u009b31mb\u0085c\u0084d\u008de\u0090f\u009cg\u009d2;x\u009ch",
  ],
  [
    "8-bit C1 as bytes",
    Uint8Array.from([
      0x61,
      0x9b,
      0x33,
      0x31,
      0x6d,
      0x62,
      0x84,
      0x63,
      0x8d,
      0x64,
      0x9c,
      0x65,
    ]),
  ],
  [
    "controls that print nothing",
    `a\0b\x7fc\x01d\x02e\x05f\x07g\x06h\x10i\x11j\x13k\x1cl\x1dm\x1en\x1fo`,
  ],
  [
    "DEL and NUL in a sequence",
    `a${csi}3\x7f1mb${csi}3\x002mc${csi}m\x1b\x7f[33md`,
  ],
  ["a sequence that never ends", `done${csi}38;5`],
  ["a string that never ends", `done${osc}2;never`],
  [
    "a log",
    range(1, 300).map((n) => `${csi}3${n % 8}m${n}${csi}m line ${"=".repeat(n % 50)}\r\n`).join(""),
  ],
];
