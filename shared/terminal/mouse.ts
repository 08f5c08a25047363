/** Mouse events as the reports that a program asked for. */
import { mode, mouseEncoding, mouseTracking } from "./protocol.ts";

export type MouseButton = "left" | "middle" | "right";

/** A mouse event over cell `x`, `y`, counted from 0. */
export type MouseEvent =
  & {
    readonly x: number;
    readonly y: number;
    readonly shift?: boolean;
    readonly alt?: boolean;
    readonly ctrl?: boolean;
  }
  & (
    | { readonly kind: "press" | "release"; readonly button: MouseButton }
    | { readonly kind: "move"; readonly button: MouseButton | null }
    | { readonly kind: "wheel"; readonly direction: "up" | "down" }
  );

const buttonCodes = { left: 0, middle: 1, right: 2 } as const;
const noButton = 3;
const motion = 32;
const wheel = 64;
/** The legacy encoding writes a coordinate as one character, 32 + x + 1, up to 223. */
const legacyPositionMax = 222;

/** The report of `event` in the modes of a frame, or null when the program did not ask for it. */
export function encodeMouse(event: MouseEvent, modes: number): string | null {
  const tracking = modes >> mode.mouseShift & mode.fieldMask;
  const code = wanted(event, tracking) ? eventCode(event, tracking) : null;
  if (code === null) return null;
  const sgr = (modes >> mode.mouseEncodingShift & mode.fieldMask) === mouseEncoding.sgr;
  if (sgr) {
    return `\x1b[<${code};${event.x + 1};${event.y + 1}${event.kind === "release" ? "m" : "M"}`;
  }
  if (event.x > legacyPositionMax || event.y > legacyPositionMax) return null;
  const legacy = event.kind === "release" ? code & ~noButton | noButton : code;
  return "\x1b[M" + String.fromCharCode(32 + legacy, 33 + event.x, 33 + event.y);
}

function wanted(event: MouseEvent, tracking: number): boolean {
  switch (event.kind) {
    case "press":
      return tracking !== mouseTracking.none;
    case "release":
    case "wheel":
      return tracking >= mouseTracking.vt200;
    case "move":
      return tracking === mouseTracking.any ||
        (tracking === mouseTracking.drag && event.button !== null);
  }
}

function eventCode(event: MouseEvent, tracking: number): number {
  const modifiers = tracking === mouseTracking.x10
    ? 0
    : (event.shift ? 4 : 0) + (event.alt ? 8 : 0) + (event.ctrl ? 16 : 0);
  switch (event.kind) {
    case "press":
    case "release":
      return buttonCodes[event.button] + modifiers;
    case "move":
      return (event.button === null ? noButton : buttonCodes[event.button]) + motion + modifiers;
    case "wheel":
      return wheel + (event.direction === "up" ? 0 : 1) + modifiers;
  }
}
