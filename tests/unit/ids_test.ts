import assert from "node:assert/strict";
import { brokenIdentifierRule, collisionForm, displayText } from "../../shared/ids.ts";

const rules: readonly (readonly [string, string | null])[] = [
  ["a", null],
  ["My Repo.v2 ünï", null],
  ["..a", null],
  ["a".repeat(128), null],
  ["é".repeat(64), null],
  ["", "must not be empty"],
  ["a".repeat(129), "must be at most 128 UTF-8 bytes"],
  ["é".repeat(65), "must be at most 128 UTF-8 bytes"],
  [".", "must not be . or .."],
  ["..", "must not be . or .."],
  ["a/b", "must not contain path separators"],
  ["a\\b", "must not contain path separators"],
  ["a\u0000b", "must not contain Unicode control characters"],
  ["a\u0085b", "must not contain Unicode control characters"],
  ["a\u007fb", "must not contain Unicode control characters"],
  ["a\ud800b", "must be well-formed Unicode"],
];

Deno.test("identifier rules and their messages", () => {
  for (const [text, rule] of rules) assert.equal(brokenIdentifierRule(text), rule, text);
});

Deno.test("names that one file system would fold have one collision form", () => {
  assert.equal(collisionForm("CAFE\u0301"), collisionForm("caf\u00e9"));
  assert.notEqual(collisionForm("a"), collisionForm("b"));
});

Deno.test("bidirectional controls are spelled out for people", () => {
  assert.equal(displayText("a\u202eb\u0007"), "a\\u202eb\\u0007");
});
