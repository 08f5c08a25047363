/** `grid up` with real daemons: the first admin, the ships' tokens, the session that it leaves. */
import assert from "node:assert/strict";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

interface Launched extends AsyncDisposable {
  /** Everything printed until it was ready. */
  readonly text: string;
  readonly bridgeUrl: string;
  readonly shipUrl: string;
}

/** Starts `grid up` as a process of its own with `home` as HOME and no terminal, and waits until it is up. */
async function launch(home: string, env: Record<string, string> = {}): Promise<Launched> {
  const config = join(home, "grid.json");
  const ships = [{ name: "aurora", port: 0 }];
  await Deno.writeTextFile(config, JSON.stringify({ bridge: { port: 0 }, ships }));
  const cache = Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "/", ".cache", "deno");
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--cached-only", "bridge/cli/main.ts", "up", "--config", config],
    cwd: root,
    clearEnv: true,
    env: {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: home,
      DENO_DIR: cache,
      TMUX_TMPDIR: home,
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const ready = Promise.withResolvers<void>();
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (/Ctrl-C stops everything/.test(text)) ready.resolve();
    }
  };
  const streams = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const ended = streams.then(() => child.status);
  ended.then(() => ready.reject(new Error(`up ended: ${text}`)));
  await ready.promise;
  return {
    text,
    bridgeUrl: /bridge at (\S+)/.exec(text)![1]!,
    shipUrl: /ship aurora at (\S+)/.exec(text)![1]!,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      assert.equal((await ended).code, 0);
    },
  };
}

async function withHome(test: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "grid-home-" });
  try {
    await test(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

async function get(url: string, token?: string): Promise<{ status: number; body: unknown }> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  const response = await fetch(url, { headers });
  return { status: response.status, body: await response.json() };
}

/** The sessions that the command line has stored, the newest last. */
async function sessions(home: string): Promise<{ token: string; username: string }[]> {
  const text = await Deno.readTextFile(join(home, ".config", "grid", "session.json"));
  return Object.values(JSON.parse(text).sessions);
}

Deno.test("up without a terminal makes up an admin, guards everything, signs the CLI in", () =>
  withHome(async (home) => {
    const data = join(home, ".local", "share", "grid");
    const file = join(data, "first-admin.txt");
    {
      await using grid = await launch(home);
      assert.match(grid.text, /made the first admin, admin; the password is in .*first-admin\.txt/);
      const [, password = ""] = /^password: (.+)$/m.exec(await Deno.readTextFile(file)) ?? [];
      assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
      assert.ok(password.length >= 20 && !grid.text.includes(password), "it is in the file alone");
      assert.equal((await get(`${grid.bridgeUrl}/ships`)).status, 401);
      assert.equal((await get(`${grid.shipUrl}/workspaces`)).status, 401);
      const [session] = await sessions(home);
      assert.equal(session?.username, "admin");
      const { body } = await get(`${grid.bridgeUrl}/ships`, session?.token);
      assert.deepEqual(body, [{ name: "aurora", url: grid.shipUrl, status: "online" }]);
      const login = await fetch(`${grid.bridgeUrl}/auth/login`, {
        method: "POST",
        body: JSON.stringify({ username: "admin", password }),
      });
      assert.equal((await login.json()).user.role, "admin");
      const left = [...Deno.readDirSync(data)].filter(({ name }) => name.startsWith("launch-"));
      assert.deepEqual(left, [], "the exchange is gone");
    }
    const before = await Deno.readTextFile(file);
    await using again = await launch(home);
    assert.doesNotMatch(again.text, /made the first admin/);
    assert.equal(await Deno.readTextFile(file), before);
    const stored = await sessions(home);
    const works = await Promise.all(
      stored.map(async ({ token }) => (await get(`${again.bridgeUrl}/ships`, token)).status),
    );
    assert.ok(works.includes(200), `a stored session works: ${works}`);
  }));

Deno.test("up takes the first admin from the three variables, and refuses two of them", () =>
  withHome(async (home) => {
    const two = {
      GRID_BRIDGE_ADMIN_USER: "grace",
      GRID_BRIDGE_ADMIN_EMAIL: "grace@example.test",
    };
    await assert.rejects(launch(home, two), /GRID_BRIDGE_ADMIN_PASSWORD is not set/);
    const password = { GRID_BRIDGE_ADMIN_PASSWORD: "a password from the environment" };
    await using grid = await launch(home, { ...two, ...password });
    assert.doesNotMatch(grid.text, /first-admin\.txt/);
    assert.equal((await sessions(home))[0]?.username, "grace");
  }));
