import assert from "node:assert/strict";
import { createLog, redactUrl } from "../../shared/log.ts";

for (
  const [given, shown] of [
    ["https://u:secret@host/x.git", "https://host/x.git"],
    [
      "fatal: unable to access 'https://tok@h/x/': no",
      "fatal: unable to access 'https://h/x/': no",
    ],
    ["http://h/x?token=secret#frag and more", "http://h/x and more"],
    ["git@github.com:o/r.git", "git@github.com:o/r.git"],
    ["user:secret@host:o/r.git", "user@host:o/r.git"],
    ["ssh://git:pw@h/x", "ssh://h/x"],
    ["nothing here", "nothing here"],
  ] as const
) {
  Deno.test(`redacts ${given}`, () => assert.equal(redactUrl(given), shown));
}

Deno.test("a message with a newline makes one line", () => {
  const lines: string[] = [];
  createLog("human", (line) => lines.push(line)).warn("a\nforged", { b: "c\nd" });
  assert.equal(lines.length, 1);
  assert.ok(!lines[0]!.includes("\n"));
  createLog("json", (line) => lines.push(line)).error("a\nb", { n: 1 });
  assert.equal(JSON.parse(lines[1]!).message, "a\nb");
});
