import assert from "node:assert/strict";
import { unitFile, unitText } from "../../scripts/systemd.ts";

for (const kind of ["ship", "bridge"] as const) {
  Deno.test(`systemd: the unit of the ${kind} is current (deno task systemd writes it)`, async () => {
    assert.equal(await Deno.readTextFile(unitFile(kind)), unitText(kind));
  });

  Deno.test(`systemd: the ${kind} is confined, and its flags allow neither everything nor FFI`, () => {
    const text = unitText(kind);
    for (const line of ["NoNewPrivileges=yes", "ProtectSystem=strict", "User=grid"]) {
      assert.ok(text.includes(`\n${line}\n`), line);
    }
    assert.ok(!/--allow-(all|ffi)|(^| )-A( |$)/m.test(text));
    assert.match(text, /--allow-write=\/var\/lib\/grid\//);
    assert.match(text, /--allow-run=\/usr\/bin\/git,/);
  });
}
