import assert from "node:assert/strict";
import { Failure, type FailureCode } from "../../shared/errors.ts";
import { browserRules, checkBrowser, isLoopback } from "../../shared/http/browser_guard.ts";

const local = browserRules({
  publicUrl: "http://localhost:4800",
  origins: ["https://tools.example"],
  hostname: "127.0.0.1",
  port: 4800,
});
const open = browserRules({
  publicUrl: "https://grid.example/",
  hostname: "0.0.0.0",
  port: 4800,
});

function refusal(headers: Record<string, string>, rules = local): FailureCode | "relayed" | null {
  try {
    checkBrowser(new Headers(headers), rules);
    return null;
  } catch (thrown) {
    assert.ok(thrown instanceof Failure);
    assert.equal(thrown.status, 403);
    return thrown.code;
  }
}

Deno.test("a program without browser headers passes", () => {
  assert.equal(refusal({}), null);
  assert.equal(refusal({ host: "127.0.0.1:4800" }), null);
  assert.equal(refusal({ host: "whatever.example" }, open), null);
});

Deno.test("the public origin, the operator's origins and loopback's own names pass", () => {
  for (
    const origin of [
      "http://localhost:4800",
      "http://127.0.0.1:4800",
      "http://[::1]:4800",
      "https://tools.example",
      "HTTP://LOCALHOST:4800",
    ]
  ) assert.equal(refusal({ origin }), null, origin);
  assert.equal(refusal({ origin: "https://grid.example" }, open), null);
});

Deno.test("any other origin is refused, and near misses are other origins", () => {
  for (
    const origin of [
      "https://evil.example",
      "null",
      "",
      "http://localhost:4801",
      "https://localhost:4800",
      "http://localhost:4800.evil.example",
      "http://localhost:4800/",
      "http://user@localhost:4800",
      "http://localhost",
    ]
  ) assert.equal(refusal({ origin }), "originRefused", origin);
  assert.equal(refusal({ origin: "http://localhost:4800" }, open), "originRefused");
});

Deno.test("a cross-site fetch is refused even without an origin", () => {
  assert.equal(refusal({ "sec-fetch-site": "cross-site" }), "crossSiteRefused");
  assert.equal(refusal({ "sec-fetch-site": "cross-site" }, open), "crossSiteRefused");
  for (const site of ["same-origin", "same-site", "none"]) {
    assert.equal(refusal({ "sec-fetch-site": site }), null, site);
  }
});

Deno.test("on loopback the host must be a name of this daemon", () => {
  for (const host of ["localhost:4800", "LOCALHOST:4800", "[::1]:4800", "tools.example"]) {
    assert.equal(refusal({ host }), null, host);
  }
  for (
    const host of [
      "evil.example",
      "evil.example:4800",
      "localhost",
      "localhost:4801",
      "127.0.0.1.nip.example:4800",
      "",
    ]
  ) assert.equal(refusal({ host }), "hostRefused", host);
});

Deno.test("the default port may be left out, as browsers do", () => {
  const rules = browserRules({ publicUrl: null, hostname: "::1", port: 80 });
  assert.equal(refusal({ host: "localhost", origin: "http://localhost" }, rules), null);
  assert.equal(refusal({ host: "localhost:80" }, rules), null);
});

Deno.test("a refusal quotes no control or non-ASCII character, and not without end", () => {
  try {
    checkBrowser(new Headers({ origin: `http://e\u00e9${"x".repeat(5000)}` }), local);
    assert.fail("must be refused");
  } catch (thrown) {
    assert.ok(thrown instanceof Failure);
    assert.match(thrown.message, /^origin not allowed: http:\/\/e\?x+$/);
    assert.ok(thrown.message.length < 300);
  }
});

Deno.test("loopback is told from addresses that only look like it", () => {
  for (const name of ["localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]"]) {
    assert.ok(isLoopback(name), name);
  }
  for (const name of ["0.0.0.0", "::", "127.0.0.1.example", "localhost.example", "10.0.0.1"]) {
    assert.ok(!isLoopback(name), name);
  }
});
