/** A real tmux server of its own, terminals over it, and a client at the other end of a socket. */
import assert from "node:assert/strict";
import { systemClock } from "../../shared/clock.ts";
import { CommandLane } from "../../shared/host/command.ts";
import { silentLog } from "../../shared/log.ts";
import { ScreenFollower } from "../../shared/terminal/client.ts";
import type { Grid } from "../../shared/terminal/grid.ts";
import type { ClientFrame } from "../../shared/terminal/protocol.ts";
import { reportingCommand } from "../../ship/terminal/tmux_client.ts";
import { Terminals } from "../../ship/terminal/terminals.ts";
import { type MemorySocket, socketPair } from "../support/memory_socket.ts";

export const decoder = new TextDecoder();

export async function programPath(name: string): Promise<string> {
  for (const folder of ["/usr/bin", "/bin", "/usr/local/bin"]) {
    const path = `${folder}/${name}`;
    if (await Deno.stat(path).then(() => true, () => false)) return path;
  }
  throw new Error(`${name} is not installed: the terminal tests need it`);
}

/** A session's name as the ship makes it. */
export const sessionName = (digit: string) => `ws-${digit.repeat(64)}`;

export class TmuxFixture implements AsyncDisposable {
  private constructor(
    readonly folder: string,
    readonly lane: CommandLane,
    readonly terminals: Terminals,
    readonly paths: { readonly tmux: string; readonly script: string },
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async start(): Promise<TmuxFixture> {
    const folder = await Deno.makeTempDir({ prefix: "terminal-" });
    const paths = {
      tmux: await programPath("tmux"),
      script: await programPath("script"),
    };
    const environment = {
      PATH: "/usr/bin:/bin",
      HOME: folder,
      LANG: "C.UTF-8",
      TMUX_TMPDIR: folder,
      TERM: "xterm-256color",
      SHELL: "/bin/sh",
      PS1: "$ ",
    };
    const lane = new CommandLane({
      programs: { sh: "/bin/sh", tmux: paths.tmux, stty: await programPath("stty") },
      timeoutPath: await programPath("timeout"),
      environment,
      concurrencyMax: 500,
      queueMax: 100,
    });
    const terminals = new Terminals({
      host: { lane },
      socketName: "grid-ship",
      tmuxPath: paths.tmux,
      scriptPath: paths.script,
      clock: systemClock,
      log: silentLog,
    });
    return new TmuxFixture(folder, lane, terminals, paths, environment);
  }

  async tmux(...args: string[]): Promise<string> {
    const result = await this.lane.run("tmux", [
      "-u",
      "-f",
      "/dev/null",
      "-L",
      "grid-ship",
      ...args,
    ], {
      timeoutMs: 10_000,
    });
    if (result.code !== 0) throw new Error(`tmux ${args[0]}: ${result.stderr}`);
    return decoder.decode(result.stdout);
  }

  /** Starts a session that runs `command` (a shell line). */
  async session(name: string, command: string): Promise<void> {
    await this.tmux(
      "new-session",
      "-d",
      "-s",
      name,
      "-x",
      "80",
      "-y",
      "24",
      reportingCommand(command, this.paths.tmux),
    );
  }

  connect(name: string): TestClient {
    const [client, server] = socketPair();
    this.terminals.serve(server, name);
    return new TestClient(client);
  }

  async clients(): Promise<string[]> {
    const listed = await this.tmux("list-clients", "-F", "#{client_name} #{client_control_mode}");
    return listed.split("\n").filter((line) => line !== "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.terminals[Symbol.asyncDispose]();
    await this.tmux("kill-server").catch(() => {});
    // The server removes its socket on its way out.
    for (
      let i = 0;
      i < 100 && await this.tmux("list-sessions").then(() => true, () => false);
      i++
    ) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** A client that follows, and acknowledges unless told not to. */
export class TestClient {
  readonly follower = new ScreenFollower();
  acking = true;
  /** Says of each frame whether it never arrives. */
  loses: () => boolean = () => false;
  exitCode: number | null = null;
  bells = 0;
  readonly copied: string[] = [];
  frames = 0;
  characters = 0;

  constructor(readonly socket: MemorySocket) {
    socket.onText((text) => {
      this.frames++;
      this.characters += text.length;
      if (this.loses()) {
        const seq = (JSON.parse(text) as { seq?: number }).seq;
        if (seq !== undefined) this.send({ type: "ack", seq });
        return;
      }
      const received = this.follower.receive(text);
      if (received.kind === "exit") {
        this.exitCode = received.code;
        return;
      }
      if (received.notices.bell) this.bells++;
      if (received.notices.clipboard !== null) this.copied.push(received.notices.clipboard);
      if (this.acking) { for (const frame of received.send) this.send(frame); }
    });
  }

  send(frame: ClientFrame): void {
    this.socket.send(JSON.stringify(frame));
  }
  init(cols = 80, rows = 24): void {
    this.send({ type: "init", cols, rows });
  }
  type(data: string): void {
    this.send({ type: "input", data });
  }
  get grid(): Grid | null {
    return this.follower.grid;
  }
  get text(): string {
    const { grid } = this;
    return grid === null ? "" : grid.lines.map((_, y) => grid.text(y)).join("\n").trimEnd();
  }
  async shows(text: string | RegExp): Promise<void> {
    const holds = () => typeof text === "string" ? this.text.includes(text) : text.test(this.text);
    await this.socket.until(holds).catch((thrown) => {
      assert.fail(`${thrown.message}\nwanted ${text}\nscreen:\n${this.text}`);
    });
  }
  async closes(): Promise<{ code: number; reason: string }> {
    await this.socket.until(() => this.socket.closeSeen !== null);
    return this.socket.closeSeen!;
  }
}

/** Waits until `holds` is true, for things that announce themselves nowhere. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail(`never happened: ${what}`);
}
