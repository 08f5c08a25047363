/** The corpus: what vttest and esctest ask of cursor, margins, tabs, insertion and deletion. */
import { at, csi, type Entry, page, range } from "./bytes.ts";

const border = "\x1b#8" + at(2, 2) + `${csi}1J${at(79, 23)}${csi}0J` +
  range(2, 23).map((y) => `${at(2, y)}${csi}78X`).join("");

export const motion: readonly Entry[] = [
  ["screen alignment", `\x1b#8${at(10, 10)}hole${at(1, 11)}${csi}2K`],
  [
    "vttest 1: a border of E around +",
    border + at(20, 12) + "+++\b\b\b\x1bD+\x1bM-\x1bE.",
  ],
  [
    "cursor movement stops at the edges",
    "abc" + `${csi}999Ax${csi}999Bx${csi}999Cx${csi}999Dx` +
    `${csi}5;5H${csi}0A^${csi}0C>${csi}2E1${csi}3F2${csi}40G3${csi}7d4${csi}2a5${csi}3e6${csi}4\`7${csi}5;9f8`,
  ],
  [
    "controls inside of sequences",
    `A${csi}2\bB${csi}\r2CC${csi}4\x0bAD\r\nA ${csi}\x0d2CB${csi}\x0b1AC`,
  ],
  [
    "zeros, none and too many parameters",
    `${csi}0;0Ha${csi};5Hb${csi}3;Hc${csi}00000004;000000001Hd` +
    `${csi}${range(1, 40).join(";")}He${csi}99999999999;1Hf${csi}5;5;5;5Hg`,
  ],
  [
    "wrap at the margin",
    "x".repeat(80) + "y".repeat(81) + "\r\n" + "z".repeat(79) + "\b\b!" +
    `${csi}?7l${"w".repeat(100)}${csi}?7h`,
  ],
  [
    "DECAWM off and on, at the last column",
    `${csi}?7l${"a".repeat(85)}b漢${csi}?7h${at(80, 3)}cd` +
    `${at(80, 5)}e\tf${at(80, 7)}g\bh${at(80, 9)}i${csi}Kj${at(80, 11)}k\rl${at(80, 13)}m\nn`,
  ],
  [
    "reverse wraparound",
    `${csi}?45h${at(1, 5)}\b\b\bx${csi}?45l${at(1, 7)}\b\by`,
  ],
  [
    "scroll regions",
    range(1, 24).map((n) => `${csi}${n};1Hline ${n}`).join("") +
    `${csi}5;15r${csi}15;1H\n\nnew${csi}5;1H\x1bM\x1bMup${csi}3S${csi}2T${csi}r${csi}20;1H`,
  ],
  [
    "scroll regions that are none",
    page +
    `${csi}9;9rA${csi}10;5rB${csi}0;0rC${csi}5;999rD\n${csi}3rE${csi}?6hF`,
  ],
  [
    "DECOM with a region",
    page + `${csi}6;12r${csi}?6h${at(1, 1)}first${csi}99;1Hlast` +
    `${csi}99Aup${csi}3;5Hin\n\n\n\n\n\n\n${csi}?6l${at(1, 1)}home${csi}r`,
  ],
  [
    "DECOM saved and restored",
    `${csi}5;10r${csi}?6h${at(3, 2)}\x1b7${csi}?6l${at(1, 1)}out\x1b8in${csi}6n`,
  ],
  [
    "index and reverse index at a region's edges",
    page +
    `${csi}5;8r${at(1, 8)}\x1bDa${at(1, 5)}\x1bMb${at(1, 9)}\x1bDc${at(1, 4)}\x1bMd${at(1, 24)}\ne${
      at(1, 1)
    }\x1bMf`,
  ],
  [
    "DECSC and DECRC",
    `${csi}1;31m${at(5, 5)}\x1b7${csi}m${at(1, 1)}x\x1b8y${csi}s${at(9, 9)}z${csi}uw\x1b8v` +
    `${csi}m\x1bc\x1b8home`,
  ],
  [
    "insert and delete",
    page +
    `${csi}4;5H${csi}3@${csi}6;5H${csi}4P${csi}8;1H${csi}2L${csi}12;1H${csi}3M${csi}15;5H${csi}4hIN${csi}4l` +
    `${csi}17;8H${csi}6X${csi}18;10H${csi}1K${csi}19;10H${csi}K`,
  ],
  [
    "insert and delete in a region and out of it",
    page + `${csi}6;14r${at(5, 8)}${csi}2L${at(5, 12)}${csi}2M` +
    `${at(5, 14)}${csi}9L${at(5, 3)}${csi}2Lout${at(5, 18)}${csi}2Mout${csi}r`,
  ],
  [
    "insert and delete too much, and in colour",
    page + `${csi}44m${at(5, 3)}${csi}999@${at(5, 5)}${csi}999P` +
    `${at(5, 7)}${csi}999X${at(5, 9)}${csi}3@${at(5, 11)}${csi}3P${at(5, 13)}${csi}2L${
      at(5, 17)
    }${csi}999M${csi}m`,
  ],
  [
    "insert mode at the margin",
    `${"a".repeat(80)}${at(1, 1)}${csi}4h${"b".repeat(5)}漢${at(79, 1)}cd${csi}4lx`,
  ],
  [
    "insert mode that wraps and scrolls",
    `${at(1, 22)}${csi}4h${"abcdefg".repeat(60)}${"漢é".repeat(60)}${csi}4l`,
  ],
  [
    "repeat",
    `a${csi}5b\r\n漢${csi}3b\r\n${csi}31mx${csi}200b${csi}m\r\n${csi}4b\r\ne\u0301${csi}2b`,
  ],
  [
    "erase in line and display",
    page + `${at(10, 3)}${csi}0K${at(10, 5)}${csi}1K${at(10, 7)}${csi}2K` +
    `${at(10, 9)}${csi}3K${at(10, 12)}${csi}1J${at(20, 18)}${csi}J${csi}3J`,
  ],
  [
    "selective erase is no erase of the protected",
    `${csi}1"qkeep${csi}0"qgone${at(1, 1)}${csi}?2K${csi}?J`,
  ],
  [
    "erasing with a background",
    `${csi}42m${csi}2J${csi}5;5H${csi}K${csi}41m${csi}8;10H${csi}1K${csi}10;1Htext` +
    `${csi}J${csi}m`,
  ],
  [
    "erasing with every attribute set",
    `${csi}1;3;4:3;7;9;53;58:5:9;31;44m${csi}2J${at(5, 5)}${csi}4X${csi}2;3H` +
    `text${csi}K${csi}m`,
  ],
  [
    "scrolling in a colour",
    page +
    `${csi}48;5;99m${csi}4S${csi}2T${at(1, 24)}\n\n${at(1, 1)}\x1bM${csi}m`,
  ],
  [
    "SU and SD beyond the screen",
    page + `${csi}3;6r${csi}99S${csi}10;12r${csi}99T${csi}r${csi}0S${csi}0T`,
  ],
  ["tabs", `a\tb\tc\r\n${csi}3g${csi}5G\x1bH${csi}20G\x1bH\ra\tb\tc${csi}2Zd`],
  [
    "CBT, CHT, TBC and the last column",
    `${csi}3Ia${csi}99Ib\r\n${at(50, 3)}${csi}2Zc${csi}99Zd` +
    `${at(17, 4)}${csi}0g${at(1, 4)}\t\te${csi}2g\r\n${csi}?5W\tf\r\n${csi}3g\tg`,
  ],
  [
    "soft reset",
    `${csi}5;10r${csi}?6h${csi}4h${csi}?7l${csi}1;31m${csi}!p${at(1, 1)}soft${"x".repeat(90)}`,
  ],
  ["hard reset in the middle", `${csi}5;10r${csi}31mred${csi}?25l\x1bcclean`],
  ["DECCOLM is ignored", `text${csi}?3hmore${csi}?3l${csi}?40h${csi}?3h!`],
  [
    "double height and width are ignored",
    `\x1b#3top\r\n\x1b#4bottom\r\n\x1b#6wide\r\n\x1b#5single`,
  ],
  ["no VT52", `${csi}?2la\x1bY$$b\x1bAc\x1b<d${csi}?2he`],
  ["newline mode", `${csi}20ha\nb${csi}20lc\nd\x0be\x0cf`],
  [
    "left and right margins",
    `${csi}?69h${csi}10;20s${at(10, 3)}${"m".repeat(30)}${csi}?69l`,
  ],
  [
    "reverse video, slow scroll, cursor keys",
    `${csi}?5h${csi}?4h${csi}?1h${csi}?8htext${csi}?5lx`,
  ],
];
