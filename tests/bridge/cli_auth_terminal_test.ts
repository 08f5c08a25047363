/** The command line as a process: on a real terminal (of tmux), and at the end of a pipe. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { people } from "../support/auth_support.ts";
import { SignedBridge } from "../support/signed_bridge.ts";

const { member: mia } = people;
const entry = new URL("../../bridge/cli/main.ts", import.meta.url).pathname;
const run = ["run", "--no-prompt", "--cached-only", "--allow-all", entry];
const waitMs = 15_000;

/** A program in a terminal of its own, on a tmux server of its own. */
class Terminal implements AsyncDisposable {
  private constructor(private readonly socket: string) {}

  static async open(directory: string, shellLine: string): Promise<Terminal> {
    const terminal = new Terminal(join(directory, "tmux"));
    await terminal.#tmux(
      "-f",
      "/dev/null",
      "new-session",
      "-d",
      "-x",
      "200",
      "sh",
      "-c",
      shellLine,
    );
    return terminal;
  }

  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text);
  }

  async press(key: string): Promise<void> {
    await this.#tmux("send-keys", key);
  }

  /** What stands on the screen once `pattern` does. */
  async screen(pattern: RegExp): Promise<string> {
    const deadline = Date.now() + waitMs;
    while (true) {
      const text = await this.#tmux("capture-pane", "-p");
      if (pattern.test(text)) return text;
      if (Date.now() > deadline) throw new Error(`no ${pattern} in: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux("kill-server");
  }

  async #tmux(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command("tmux", {
      args: ["-S", this.socket, ...args],
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  }
}

/** `grid login` in a terminal that then tells the exit code and whether it echoes, and stays open. */
function loginLine(at: SignedBridge): string {
  const command = [Deno.execPath(), ...run, "login", "--username", "mia", "--url", at.url];
  // The inner shell becomes the command, so that its id is known.
  return `sh -c 'echo "pid=$$."; XDG_CONFIG_HOME="$0" exec "$@"' '${at.home}' ` +
    `'${command.join("' '")}'; ` +
    `echo "code=$?"; stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*echo' -e '-*icanon'; ` +
    "echo done; exec cat";
}

const restored = /code=\d+\n(icanon\necho|echo\nicanon)\ndone/;

Deno.test("cli terminal: a password is typed unseen, and the terminal is restored", async () => {
  await using at = await SignedBridge.start();
  await using terminal = await Terminal.open(at.home, loginLine(at));
  await terminal.screen(/Password of mia:/);
  await terminal.type(`${mia.password}x`);
  await terminal.press("BSpace");
  await terminal.press("Enter");
  const text = await terminal.screen(/^done$/m);
  assert.match(text, /signed in as mia \(member\)[^]*code=0/);
  assert.match(text, restored);
  assert.ok(!text.includes(mia.password));
  assert.equal((await at.grid("whoami")).code, 0);
});

Deno.test("cli terminal: Ctrl-C and TERM end a hidden prompt, and the terminal is restored", async () => {
  for (const how of ["Ctrl-C", "TERM"]) {
    await using at = await SignedBridge.start();
    await using terminal = await Terminal.open(at.home, loginLine(at));
    const asked = await terminal.screen(/Password of mia:/);
    if (how === "Ctrl-C") {
      await terminal.type("half a pass");
      await terminal.press("C-c");
    } // Nothing is typed here: what a signal overtakes would reach whoever reads the terminal next.
    else Deno.kill(Number(/pid=(\d+)\./.exec(asked)?.[1]), "SIGTERM");
    const text = await terminal.screen(/^done$/m);
    assert.match(text, /code=130/, `${how}: ${text.trim()}`);
    assert.match(text, restored);
    assert.ok(!text.includes("half a pass"));
  }
});

Deno.test("cli pipe: login, the file it keeps, GRID_TOKEN, all as a process", async () => {
  await using at = await SignedBridge.start();
  const grid = async (args: string[], env: Record<string, string>, input = "") => {
    const child = new Deno.Command(Deno.execPath(), {
      args: [...run, ...args],
      env: { XDG_CONFIG_HOME: at.home, GRID_BRIDGE_URL: at.url, ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { code, stdout, stderr } = await child.output();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, out: decode(stdout), err: decode(stderr) };
  };
  const login = await grid(["login", "--username", "mia"], {}, `${mia.password}\r\nmore\n`);
  assert.equal(login.code, 0, login.err);
  assert.ok((await at.storedToken()).length >= 43);
  assert.match((await grid(["whoami"], {})).out, /user +mia/);
  assert.match((await grid(["whoami"], { GRID_TOKEN: at.tokens.admin })).out, /user +ada/);
});
