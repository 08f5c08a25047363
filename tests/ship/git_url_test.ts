import assert from "node:assert/strict";
import { join } from "node:path";
import { parseRemoteRefs, remoteBranches, remoteKindOf } from "../../shared/git/refs.ts";
import { reasonOf } from "../../shared/git/remote.ts";
import { credentialConfiguration } from "../../shared/git/environment.ts";
import { cloneProtocols, parseCloneUrl } from "../../shared/git/url.ts";
import { exists, failureOf, makeGrid } from "../support/grid_support.ts";

const taken: readonly (readonly [text: string, protocol: string])[] = [
  ["https://example.invalid/a/b.git", "https"],
  ["https://example.invalid:8443/a%20b?x=1", "https"],
  ["http://[::1]:80/a", "http"],
  ["ssh://git@example.invalid:22/a/b.git", "ssh"],
  ["ssh://example.invalid/~ada/b", "ssh"],
  ["git@example.invalid:a/b.git", "ssh"],
  ["example.invalid:b", "ssh"],
  ["[::1]:b", "ssh"],
  ["git://example.invalid/a", "git"],
  ["file:///srv/a b.git", "file"],
  ["/srv/git/a.git", "file"],
];

Deno.test("clone URLs of every allowed form are taken, and narrowed by protocol", () => {
  for (const [text, protocol] of taken) {
    const parsed = parseCloneUrl(text);
    assert.ok(parsed.ok, `${text}: ${JSON.stringify(parsed)}`);
    assert.equal(parsed.url.protocol, protocol, text);
    assert.ok(!parseCloneUrl(text, cloneProtocols.filter((one) => one !== protocol)).ok, text);
  }
});

const marker = (root: string) => join(root, "MARKER");
const hostile = (root: string): string[] => {
  const touch = `touch ${marker(root)}`;
  return [
    "",
    " ",
    `--upload-pack=${touch}`,
    `-u${touch}`,
    `--config=core.fsmonitor=${touch}`,
    `-ccore.sshCommand=${touch}`,
    "--template=/tmp",
    `ext::sh -c ${touch}`,
    `ext::${touch}`,
    `EXT::sh -c ${touch}`,
    "fd::17",
    "foo::bar",
    "transport::https://example.invalid/x",
    "https::https://example.invalid/x",
    "::",
    `ssh://-oProxyCommand=${touch}/x`,
    `ssh://-oProxyCommand=${touch}@example.invalid/x`,
    `ssh://git@-oProxyCommand=${touch}/x`,
    `ssh://example.invalid/-${touch}`,
    `ssh://example.invalid:-1/x`,
    `ssh://example.invalid:22x/x`,
    "ssh://user:secret@example.invalid/x",
    `ssh://$(${touch})/x`,
    "ssh://`id`/x",
    "ssh:///x",
    `-oProxyCommand=${touch}:x`,
    `git@-oProxyCommand=${touch}:x`,
    `git@example.invalid:-u${touch}`,
    `$(${touch}):x`,
    "user:secret@example.invalid:path",
    "git://-x/y",
    "git://user:secret@example.invalid/y",
    "git://example.invalid",
    "file://example.invalid/x",
    "file://",
    "file:x",
    "file:////server/share",
    "HTTPS://example.invalid/x",
    "ftp://example.invalid/x",
    "ftps://example.invalid/x",
    "javascript:alert(1)//",
    "data:text/plain,x",
    "https://",
    "https://exa mple.invalid/x",
    "https:\\\\example.invalid\\x",
    "https://example.invalid/x#frag",
    "https://u%0aHost:x@example.invalid/x",
    "https://u:%0d%0aX-Evil:1@example.invalid/x",
    "https://%zz:x@example.invalid/x",
    "https://a%3Ab:x@example.invalid/x",
    "https://example.invalid/x\n",
    "https://example.invalid/\u0000x",
    "https://example.invalid/\u0085x",
    "\thttps://example.invalid/x",
    "/srv/a\nb",
    "relative/path",
    "./relative",
    "../relative",
    "~/home",
    "C:\\x",
    "https://example.invalid/\ud800",
    "x".repeat(5000),
  ];
};

Deno.test("[invalidCreateRequest] hostile clone URLs are refused, and run nothing", async () => {
  await using grid = await makeGrid();
  for (const url of hostile(grid.root)) {
    const failure = await failureOf(
      "invalidCreateRequest",
      () => grid.workspaces.create({ url, repoName: "repo", name: "one", branch: "main" }),
    ).catch((thrown) => {
      throw new Error(`${JSON.stringify(url)}: ${thrown}`);
    });
    assert.equal(failure.message, "invalid workspace create request");
    assert.ok(!`${failure.reason}`.includes("secret"), url);
  }
  assert.ok(!await exists(marker(grid.root)));
  assert.deepEqual(await Array.fromAsync(Deno.readDir(grid.gridDirectory)), []);
});

Deno.test("a credential leaves the URL and becomes a header for its origin", () => {
  const parsed = parseCloneUrl("https://ada:p%40ss%C3%A9@example.invalid:8443/a?token=hidden");
  assert.ok(parsed.ok);
  const { url } = parsed;
  assert.equal(url.forGit, "https://example.invalid:8443/a?token=hidden");
  assert.equal(url.shown, "https://example.invalid:8443/a");
  const header = credentialConfiguration(url).find(([key]) => key.endsWith("extraHeader"));
  assert.equal(header?.[0], "http.https://example.invalid:8443/.extraHeader");
  const basic = header?.[1].replace("Authorization: Basic ", "") ?? "";
  assert.equal(
    new TextDecoder().decode(Uint8Array.from(atob(basic), (c) => c.charCodeAt(0))),
    "ada:p@ssé",
  );
});

Deno.test("a remote's refs are read exactly, hostile lines skipped", () => {
  const oid = "a".repeat(40);
  const refs = parseRemoteRefs([
    "ref: refs/heads/main\tHEAD",
    `${oid}\tHEAD`,
    `${oid}\trefs/heads/feat/x`,
    `${oid}\trefs/heads/Zed`,
    `${oid}\trefs/tags/v1`,
    `${oid}\trefs/tags/v1^{}`,
    "nonsense",
    `short\trefs/heads/bad`,
  ].join("\n"));
  assert.equal(refs.headBranch, "refs/heads/main");
  assert.deepEqual(remoteBranches(refs), [{ name: "Zed", sha: oid }, { name: "feat/x", sha: oid }]);
  assert.equal(remoteKindOf(refs, "x"), null);
  assert.equal(remoteKindOf(refs, "feat/x"), "branch");
  assert.equal(remoteKindOf(refs, "v1"), "tag");
  assert.equal(parseRemoteRefs("ref: refs/heads/gone\tHEAD\n").headBranch, null);
});

Deno.test("git's reasons are one line without secrets or control characters", () => {
  const reason = reasonOf(
    "Cloning into 'x'...\nremote: \u001b[31mnope\u001b[0m\r\nfatal: unable to access " +
      "'https://ada:hunter22@example.invalid/a?key=1': hunter22 p%40ss\n",
    { username: "ada-token", password: "p@ss" },
  );
  // deno-lint-ignore no-control-regex -- none of them may be left
  assert.ok(!/[\u0000-\u001f]|hunter22@|key=1|p%40ss/.test(reason), reason);
  assert.equal(reasonOf(""), "git gave no reason");
});
