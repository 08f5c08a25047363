/** Key presses and pastes as the bytes that a program in the terminal expects in its present modes. */
import { mode } from "./protocol.ts";

/** A key press, named as in the DOM's `KeyboardEvent.key`. */
export interface KeyPress {
  readonly key: string;
  readonly ctrl?: boolean;
  readonly alt?: boolean;
  readonly shift?: boolean;
}

/** Final letters of keys that are `CSI letter`, or `SS3 letter` in application mode. */
const letterKeys: Readonly<Record<string, string>> = {
  ArrowUp: "A",
  ArrowDown: "B",
  ArrowRight: "C",
  ArrowLeft: "D",
  Home: "H",
  End: "F",
};
const functionLetters: Readonly<Record<string, string>> = { F1: "P", F2: "Q", F3: "R", F4: "S" };
const tildeKeys: Readonly<Record<string, number>> = {
  Insert: 2,
  Delete: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
};
const plainKeys: Readonly<Record<string, string>> = {
  Enter: "\r",
  Tab: "\t",
  Escape: "\x1b",
  Backspace: "\x7f",
};
/** Characters that Ctrl turns into a control code by no rule but custom. */
const ctrlCustom: Readonly<Record<string, string>> = {
  " ": "\x00",
  "2": "\x00",
  "3": "\x1b",
  "4": "\x1c",
  "5": "\x1d",
  "6": "\x1e",
  "7": "\x1f",
  "8": "\x7f",
  "/": "\x1f",
  "?": "\x7f",
};

/** The bytes of a key press in the modes of a frame, or null for a key that types nothing. */
export function encodeKey(press: KeyPress, modes: number): string | null {
  return namedKey(press, modes) ?? textKey(press);
}

function namedKey(press: KeyPress, modes: number): string | null {
  const { key } = press;
  const modifier = 1 + (press.shift ? 1 : 0) + (press.alt ? 2 : 0) + (press.ctrl ? 4 : 0);
  const letter = letterKeys[key];
  if (letter !== undefined) {
    if (modifier > 1) return `\x1b[1;${modifier}${letter}`;
    return (modes & mode.applicationCursor ? "\x1bO" : "\x1b[") + letter;
  }
  const functionLetter = functionLetters[key];
  if (functionLetter !== undefined) {
    return modifier > 1 ? `\x1b[1;${modifier}${functionLetter}` : `\x1bO${functionLetter}`;
  }
  const number = tildeKeys[key];
  if (number !== undefined) return `\x1b[${number}${modifier > 1 ? `;${modifier}` : ""}~`;
  if (key === "Tab" && press.shift) return "\x1b[Z";
  if (key === "Backspace" && press.ctrl) return press.alt ? "\x1b\b" : "\b";
  const text = plainKeys[key];
  return text === undefined ? null : (press.alt ? "\x1b" : "") + text;
}

function textKey(press: KeyPress): string | null {
  const { key } = press;
  // Names of keys are ASCII words; what a key types is one character, or a cluster beyond ASCII.
  if ([...key].length !== 1 && /^[A-Za-z0-9]+$/.test(key)) return null;
  const text = press.ctrl ? controlCode(key) : key;
  return text === null ? null : (press.alt ? "\x1b" : "") + text;
}

function controlCode(key: string): string | null {
  const custom = ctrlCustom[key];
  if (custom !== undefined) return custom;
  const code = key.toUpperCase().codePointAt(0) ?? 0;
  return code >= 0x40 && code < 0x60 ? String.fromCharCode(code & 0x1f) : null;
}

/** Pasted text as input; in bracketed mode nothing in it can end the bracket. */
export function encodePaste(text: string, modes: number): string {
  const lines = text.replace(/\r?\n/g, "\r");
  if (!(modes & mode.bracketedPaste)) return lines;
  return `\x1b[200~${lines.replaceAll("\x1b", "")}\x1b[201~`;
}

/** The report that the window gained or lost the focus, or null when nobody asked for it. */
export function encodeFocus(focused: boolean, modes: number): string | null {
  return modes & mode.focus ? (focused ? "\x1b[I" : "\x1b[O") : null;
}
