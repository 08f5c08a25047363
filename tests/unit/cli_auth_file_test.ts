import assert from "node:assert/strict";
import { join } from "node:path";
import { SessionFile, sessionFilePath, sessionKey } from "../../bridge/cli/session_file.ts";

const session = (token: string) => ({
  token,
  username: "mia",
  expiresAt: "2030-01-01T00:00:00.000Z",
});

async function withDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "grid-session-" });
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;

Deno.test("session file: its place", () => {
  const home = "/home/mia";
  assert.equal(sessionFilePath({ configHome: "/x", home }), "/x/grid/session.json");
  assert.equal(
    sessionFilePath({ configHome: undefined, home }),
    "/home/mia/.config/grid/session.json",
  );
  assert.equal(
    sessionFilePath({ configHome: "relative", home }),
    "/home/mia/.config/grid/session.json",
  );
});

Deno.test("session file: one key for the names of this host, others apart", () => {
  const key = sessionKey("http://127.0.0.1:4800");
  for (const name of ["http://localhost:4800", "http://[::1]:4800/", "http://LOCALHOST:4800"]) {
    assert.equal(sessionKey(name), key);
  }
  const others = [
    "http://127.0.0.1:4801",
    "https://127.0.0.1:4800",
    "http://host:4800",
    "http://localhost:4800/base",
    "http://localhost.example:4800",
  ];
  assert.equal(new Set([key, ...others.map(sessionKey)]).size, others.length + 1);
});

Deno.test("session file: kept by bridge, private, repaired when it is wider", () =>
  withDirectory(async (directory) => {
    const path = join(directory, "grid", "session.json");
    const file = new SessionFile(path);
    assert.equal(await file.read("http://a"), null);
    await Deno.mkdir(join(directory, "grid"), { mode: 0o755 });
    await file.write("http://a", session("ta"));
    await file.write("http://b", session("tb"));
    assert.deepEqual([await modeOf(join(directory, "grid")), await modeOf(path)], [0o700, 0o600]);
    await Deno.chmod(path, 0o644);
    assert.equal((await file.read("http://a/"))?.token, "ta");
    assert.equal(await modeOf(path), 0o600);
    await file.remove("http://a", "another token");
    assert.equal((await file.read("http://a"))?.token, "ta");
    await file.remove("http://a");
    assert.equal(await file.read("http://a"), null);
    assert.equal((await file.read("http://b"))?.token, "tb");
  }));

Deno.test("session file: writers at the same time lose nothing and leave nothing behind", () =>
  withDirectory(async (directory) => {
    const path = join(directory, "session.json");
    const bridges = Array.from({ length: 12 }, (_, index) => `http://bridge-${index}`);
    await Promise.all(bridges.map((url) => new SessionFile(path).write(url, session("t"))));
    for (const url of bridges) assert.equal((await new SessionFile(path).read(url))?.token, "t");
    assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name), ["session.json"]);
  }));

Deno.test("session file: what cannot be understood is named and kept", () =>
  withDirectory(async (directory) => {
    const path = join(directory, "session.json");
    const file = new SessionFile(path);
    for (const text of ["", "[]", '{"version":2,"sessions":{}}', '{"version":1}']) {
      await Deno.writeTextFile(path, text);
      const names = (thrown: unknown) => String(thrown).includes(path);
      await assert.rejects(() => file.read("http://a"), names);
      await assert.rejects(() => file.write("http://a", session("t")), names);
      await assert.rejects(() => file.remove("http://a"), names);
      assert.equal(await Deno.readTextFile(path), text);
    }
  }));
