import assert from "node:assert/strict";
import { secretBytesMax, SecretLine, type SecretStep } from "../../shared/host/secret_line.ts";

/** Types `text` into a new line; gives what the last byte led to. */
function type(text: string | Uint8Array): SecretStep {
  const line = new SecretLine();
  let step: SecretStep = { kind: "more" };
  for (const byte of typeof text === "string" ? new TextEncoder().encode(text) : text) {
    step = line.push(byte);
    if (step.kind !== "more") return step;
  }
  return step;
}

const lines: ReadonlyArray<readonly [typed: string, text: string]> = [
  ["hunter2\r", "hunter2"],
  ["hunter2\n", "hunter2"],
  ["\r", ""],
  ["ab\x7f\x7f\x7fcd\r", "cd"],
  ["paß\x08w\r", "paw"],
  ["🔑x\x7f\x7fy\r", "y"],
  ["wrong\x15right\r", "right"],
  ["a\x1b[Db\x1b[3~c\x1bOAd\r", "abcd"],
  ["a\tb\x00c\r", "abc"],
  ["a\x04b\r", "ab"],
  ["\x1b\r", ""],
];
for (const [typed, text] of lines) {
  Deno.test(`secret line: ${JSON.stringify(typed)}`, () =>
    assert.deepEqual(type(typed), { kind: "line", text }));
}

Deno.test("secret line: Ctrl-C and Ctrl-D cancel", () => {
  for (const typed of ["abc\x03", "\x04", "\x1b[\x03"]) {
    assert.deepEqual(type(typed), { kind: "cancelled" });
  }
});

Deno.test("secret line: too long and no UTF-8 are refused, not changed", () => {
  assert.throws(() => type("x".repeat(secretBytesMax + 1)), /longer than/);
  assert.equal(type("x".repeat(secretBytesMax) + "\r").kind, "line");
  assert.throws(() => type(new Uint8Array([0xff, 13])), /not UTF-8/);
});
