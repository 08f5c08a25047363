import assert from "node:assert/strict";
import { documents } from "../../scripts/api_document.ts";

Deno.test("the API documents are those of the endpoint tables", async () => {
  for (const [name, text] of Object.entries(documents())) {
    const path = new URL(`../../docs/api/${name}`, import.meta.url);
    assert.equal(
      JSON.stringify(JSON.parse(await Deno.readTextFile(path))),
      JSON.stringify(JSON.parse(text)),
      `docs/api/${name} is old: run deno task api-document`,
    );
  }
});
