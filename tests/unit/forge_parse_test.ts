import assert from "node:assert/strict";
import { issueBranchName } from "../../bridge/ephemeral/slug.ts";
import { conclusionOf, logTail, parseSlug } from "../../bridge/provider/github/parse.ts";

Deno.test("slug: owner and name come from every form of clone URL", () => {
  const slug = { owner: "acme", repo: "web.site" };
  for (
    const url of [
      "https://github.com/acme/web.site",
      "https://github.com/acme/web.site.git",
      "https://user:token@ghe.example:8443/acme/web.site.git/",
      "ssh://git@github.com/acme/web.site.git",
      "ssh://git@github.com:22/acme/web.site",
      "git@github.com:acme/web.site.git",
      "github-work:acme/web.site.git",
      "git@github.com:/acme/web.site.git",
      "git://github.com/acme/web.site.git",
    ]
  ) assert.deepEqual(parseSlug(url), slug, url);
  for (
    const url of [
      "https://github.com/acme",
      "https://github.com/a/b/c",
      "https://github.com/acme/..",
      "https://github.com/../web",
      "file:///acme/web",
      "/acme/web",
      "git@github.com:web.git",
      "https://github.com/acme/we%20b",
    ]
  ) assert.equal(parseSlug(url), null, url);
});

Deno.test("issue branch: number, dash, plain small letters, sixty characters at most", () => {
  const cases: ReadonlyArray<readonly [string, string]> = [
    ["Fix the login page", "7-fix-the-login-page"],
    ["  --Don't panic!!  (again) ", "7-dont-panic-again"],
    [
      "Größe ändern: Œuvre, Ångström, Łódź, smørrebrød",
      "7-grosse-andern-oeuvre-angstrom-lodz-smorrebrod",
    ],
    ["STRASSE ẞ", "7-strasse-ss"],
    ["日本語 only 2 words", "7-only-2-words"],
    ["日本語", "7"],
    ["", "7"],
    ["!!!", "7"],
    ["a/../b.lock~^:?*[\\@{", "7-a-b-lock"],
    [`${"x".repeat(57)} yz`, `7-${"x".repeat(57)}`],
    [`${"x".repeat(80)}`, `7-${"x".repeat(58)}`],
  ];
  for (const [title, branch] of cases) {
    assert.equal(issueBranchName(7, title), branch);
    assert.ok(branch.length <= 60);
  }
});

Deno.test("logs lose escapes, controls and all but their end", () => {
  const log = "\ufeff\x1b[36;1mone\x1b[0m\r\n\x1b]0;title\x07two\x1b]8;;u\x1b\\\tx\x00\nthree\n\n";
  assert.equal(logTail(log, 10), "one\ntwo\tx\nthree");
  assert.equal(logTail(log, 1), "three");
  assert.equal(logTail("", 5), "");
});

Deno.test("checks: failure before pending before success", () => {
  const check = (status: string, conclusion: string | null) => ({
    name: "n",
    status,
    conclusion,
    startedAt: null,
    completedAt: null,
    url: null,
  });
  const good = check("completed", "success");
  assert.equal(conclusionOf([]), null);
  assert.equal(conclusionOf([good, check("completed", "skipped")]), "success");
  assert.equal(conclusionOf([good, check("queued", null)]), "pending");
  assert.equal(conclusionOf([check("queued", null), check("completed", "failure")]), "failure");
});
