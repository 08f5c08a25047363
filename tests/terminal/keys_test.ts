import assert from "node:assert/strict";
import { encodeFocus, encodeKey, encodePaste } from "../../shared/terminal/keys.ts";
import { encodeMouse } from "../../shared/terminal/mouse.ts";
import { mode, mouseEncoding, mouseTracking } from "../../shared/terminal/protocol.ts";

Deno.test("keys by modes", () => {
  const app = mode.applicationCursor;
  const cases: Array<[Parameters<typeof encodeKey>[0], number, string | null]> = [
    [{ key: "a" }, 0, "a"],
    [{ key: "é" }, 0, "é"],
    [{ key: "漢" }, 0, "漢"],
    [{ key: "a", ctrl: true }, 0, "\x01"],
    [{ key: "C", ctrl: true, shift: true }, 0, "\x03"],
    [{ key: "[", ctrl: true }, 0, "\x1b"],
    [{ key: " ", ctrl: true }, 0, "\x00"],
    [{ key: "é", ctrl: true }, 0, null],
    [{ key: "x", alt: true }, 0, "\x1bx"],
    [{ key: "Enter" }, 0, "\r"],
    [{ key: "Backspace" }, 0, "\x7f"],
    [{ key: "Backspace", ctrl: true }, 0, "\b"],
    [{ key: "Tab", shift: true }, 0, "\x1b[Z"],
    [{ key: "ArrowUp" }, 0, "\x1b[A"],
    [{ key: "ArrowUp" }, app, "\x1bOA"],
    [{ key: "ArrowUp", ctrl: true }, app, "\x1b[1;5A"],
    [{ key: "Home" }, app, "\x1bOH"],
    [{ key: "F1" }, 0, "\x1bOP"],
    [{ key: "F5", shift: true }, 0, "\x1b[15;2~"],
    [{ key: "Delete" }, 0, "\x1b[3~"],
    [{ key: "Shift" }, 0, null],
    [{ key: "F13" }, 0, null],
  ];
  for (const [press, modes, bytes] of cases) {
    assert.equal(encodeKey(press, modes), bytes, JSON.stringify(press));
  }
});

Deno.test("pastes and focus by modes; a paste cannot end its own bracket", () => {
  assert.equal(encodePaste("a\r\nb\nc", 0), "a\rb\rc");
  assert.equal(
    encodePaste("x\x1b[201~rm -rf", mode.bracketedPaste),
    "\x1b[200~x[201~rm -rf\x1b[201~",
  );
  assert.equal(encodeFocus(true, mode.focus), "\x1b[I");
  assert.equal(encodeFocus(false, mode.focus), "\x1b[O");
  assert.equal(encodeFocus(true, 0), null);
});

Deno.test("mouse reports by protocol and encoding", () => {
  const modes = (tracking: number, encoding: number) =>
    tracking << mode.mouseShift | encoding << mode.mouseEncodingShift;
  const sgr = (tracking: number) => modes(tracking, mouseEncoding.sgr);
  const press = { kind: "press", button: "left", x: 0, y: 1 } as const;
  const release = { kind: "release", button: "right", x: 4, y: 5 } as const;
  const drag = { kind: "move", button: "left", x: 2, y: 2 } as const;
  const hover = { kind: "move", button: null, x: 2, y: 2 } as const;
  const wheel = { kind: "wheel", direction: "down", x: 9, y: 9, ctrl: true } as const;
  assert.equal(encodeMouse(press, 0), null);
  assert.equal(encodeMouse(press, sgr(mouseTracking.vt200)), "\x1b[<0;1;2M");
  assert.equal(encodeMouse(release, sgr(mouseTracking.vt200)), "\x1b[<2;5;6m");
  assert.equal(encodeMouse(release, sgr(mouseTracking.x10)), null);
  assert.equal(encodeMouse(drag, sgr(mouseTracking.vt200)), null);
  assert.equal(encodeMouse(drag, sgr(mouseTracking.drag)), "\x1b[<32;3;3M");
  assert.equal(encodeMouse(hover, sgr(mouseTracking.drag)), null);
  assert.equal(encodeMouse(hover, sgr(mouseTracking.any)), "\x1b[<35;3;3M");
  assert.equal(encodeMouse(wheel, sgr(mouseTracking.any)), "\x1b[<81;10;10M");
  assert.equal(encodeMouse(press, modes(mouseTracking.vt200, 0)), '\x1b[M !"');
  assert.equal(encodeMouse(release, modes(mouseTracking.vt200, 0)), "\x1b[M#%&");
  assert.equal(encodeMouse({ ...press, x: 300 }, modes(mouseTracking.vt200, 0)), null);
});
