import assert from "node:assert/strict";
import { type Absence, absenceOf, mayPass } from "../../bridge/cli/attach/absence.ts";
import { CallError } from "../../shared/http/client.ts";

const key = "shop/one";

Deno.test("cli attach: what is said of a missing screen, and whether it may come back", async () => {
  const failed = (status: number) =>
    absenceOf(key, Promise.reject(new CallError("status", "why", status)));
  const transport = new CallError("transport", "connection refused", 0);
  const cases: Array<[Promise<Absence>, Absence["kind"], boolean, boolean]> = [
    [
      absenceOf(key, Promise.resolve({ state: "inactive" })),
      "inactive",
      false,
      false,
    ],
    [absenceOf(key, Promise.resolve({ state: "active" })), "held", true, false],
    [failed(404), "unknown", true, false],
    [failed(503), "offline", true, true],
    [absenceOf(key, Promise.reject(transport)), "offline", true, true],
  ];
  for (const [asked, kind, soon, late] of cases) {
    const absence = await asked;
    assert.equal(absence.kind, kind);
    assert.deepEqual([mayPass(absence, 59_000), mayPass(absence, 60_000)], [
      soon,
      late,
    ], kind);
  }
  await assert.rejects(failed(401), CallError);
  await assert.rejects(
    absenceOf(key, Promise.reject(new TypeError("bug"))),
    TypeError,
  );
});
