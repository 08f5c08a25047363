/**
 * A bridge and a ship as processes with a workspace in session, and terminals of an outer tmux in which
 * the command line runs as a user runs it.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  askBridge,
  childrenOf,
  eventually,
  type LoneDaemon,
  Place,
  runGrid,
  startLone,
} from "./grid_process.ts";

const entry = fileURLToPath(
  new URL("../../bridge/cli/main.ts", import.meta.url),
);
const run = ["run", "--no-prompt", "--cached-only", "--allow-all", entry];
/** What a session shows when it waits for a command. */
export const prompt = "in>";
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const portOf = (daemon: LoneDaemon) => `--port=${new URL(daemon.url).port}`;

export class AttachRig implements AsyncDisposable {
  readonly #terminals = new Set<OuterTerminal>();
  private constructor(
    readonly place: Place,
    private ship: LoneDaemon,
    private bridge: LoneDaemon,
  ) {}

  /** With the workspaces `shop/one`, whose session is a shell, and `shop/idle`, which has none. */
  static async start(): Promise<AttachRig> {
    await using stack = new AsyncDisposableStack();
    const place = stack.use(await Place.make());
    const ship = stack.use(
      await startLone("ship", place, { flags: [sessionFlag] }),
    );
    const bridge = stack.use(await startLone("bridge", place));
    const rig = new AttachRig(place, ship, bridge);
    const remote = await place.makeRemote();
    await rig.ask("POST", "/ships", { url: ship.url });
    await rig.ask("POST", "/repos", { name: "shop", url: `file://${remote}` });
    for (const name of ["one", "idle"]) {
      await rig.ask("POST", "/workspaces", {
        ship: "ark",
        repoName: "shop",
        name,
        branch: name,
      });
    }
    await rig.ask("POST", "/workspaces/shop/one/activate");
    stack.move();
    return rig;
  }

  ask(method: string, path: string, body?: unknown): Promise<unknown> {
    return askBridge(this.bridge.url, method, path, body);
  }

  /** `grid <args>` at the end of pipes. */
  run(...args: string[]) {
    return runGrid(this.place, args, { GRID_BRIDGE_URL: this.bridge.url });
  }

  /** The inner tmux, which the ship started; commands name no session, there is one. */
  inner(...args: string[]): Promise<string> {
    return this.place.tmux(...args);
  }

  /** Lines that either daemon wrote. */
  get logLines(): readonly string[] {
    return [...this.ship.lines, ...this.bridge.lines];
  }

  signal(which: "ship" | "bridge", signal: Deno.Signal): void {
    Deno.kill(this[which].daemon.pid, signal);
  }

  async kill(which: "ship" | "bridge"): Promise<void> {
    this.signal(which, "SIGKILL");
    await this[which].daemon.ended;
  }

  /** Starts it again on the port that it had. */
  async restart(which: "ship" | "bridge"): Promise<void> {
    const flags = [
      portOf(this[which]),
      ...(which === "ship" ? [sessionFlag] : []),
    ];
    this[which] = await startLone(which, this.place, { flags });
  }

  /** `grid <args>` in a new terminal; when it ends, its exit code and the terminal's state are shown. */
  async open(
    args: readonly string[],
    size = { cols: 100, rows: 24 },
  ): Promise<OuterTerminal> {
    const terminal = new OuterTerminal(this.place, `t${this.#terminals.size}`);
    this.#terminals.add(terminal);
    const command = [Deno.execPath(), ...run, ...args].map(quoted).join(" ");
    const line =
      `trap : INT; before=$(stty -g); ${command}; code=$?; printf 'code=%s. ' "$code"; ` +
      `[ "$(stty -g)" = "$before" ] && echo restored || { echo changed; stty -a; }; exec cat -v`;
    await terminal.begin(line, size, {
      ...this.place.environment({
        GRID_BRIDGE_URL: this.bridge.url,
        LANG: "C.UTF-8",
      }),
    });
    return terminal;
  }

  /** An attachment that shows the prompt. */
  async attach(...args: string[]): Promise<OuterTerminal> {
    const terminal = await this.open(["attach", "shop/one", ...args]);
    await terminal.shows(prompt);
    return terminal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals) await terminal.end();
    await this.bridge.daemon.stop();
    await this.ship.daemon.stop();
    await this.place[Symbol.asyncDispose]();
  }
}

const sessionFlag = `--session-command=PS1='${prompt} ' exec sh`;

/** One terminal: a tmux server of its own with one pane. */
export class OuterTerminal {
  readonly #socket: string;
  #environment: Record<string, string> = {};
  constructor(place: Place, name: string) {
    this.#socket = join(place.root, name);
  }

  async begin(
    line: string,
    size: { readonly cols: number; readonly rows: number },
    environment: Record<string, string>,
  ): Promise<void> {
    this.#environment = environment;
    const command = [
      "new-session",
      "-d",
      "-x",
      `${size.cols}`,
      "-y",
      `${size.rows}`,
      "sh",
      "-c",
    ];
    await this.tmux(
      "-f",
      "/dev/null",
      "set-option",
      "-s",
      "set-clipboard",
      "on",
      ";",
      ...command,
      line,
    );
    // tmux 3.3a crashes when it stands before the session.
    await this.tmux("set-option", "-g", "window-size", "manual");
  }

  /** Types text byte for byte. */
  async type(text: string): Promise<void> {
    const bytes = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16));
    await this.tmux("send-keys", "-H", ...bytes);
  }

  /** Pastes as a terminal does: bracketed when the program asked for it. */
  async paste(text: string): Promise<void> {
    await Deno.writeTextFile(`${this.#socket}.paste`, text);
    await this.tmux("load-buffer", "-b", "pasted", `${this.#socket}.paste`);
    await this.tmux("paste-buffer", "-p", "-r", "-b", "pasted");
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.tmux("resize-window", "-x", `${cols}`, "-y", `${rows}`);
  }

  text(): Promise<string> {
    return this.tmux("capture-pane", "-p");
  }

  /** What the screen shows once it shows `wanted`, or once it no longer does. */
  async shows(wanted: string | RegExp, shown = true): Promise<string> {
    let text = "";
    const holds = () => typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
    return await eventually(`${wanted}`, async () => {
      text = await this.text();
      return holds() === shown ? text : null;
    }).catch((thrown) => {
      throw new Error(`${thrown.message} ${shown ? "" : "gone"}\n${text}`);
    });
  }

  /** A tmux format of the pane, such as `#{pane_title}`. */
  async format(format: string): Promise<string> {
    return (await this.tmux("display-message", "-p", format)).trimEnd();
  }

  async has(format: string, value: string): Promise<void> {
    let seen = "";
    await eventually(`${format} is ${value}`, async () => {
      seen = await this.format(format);
      return seen === value;
    }).catch((thrown) => {
      throw new Error(`${thrown.message}; it is ${seen}`);
    });
  }

  /** The process id of the command line in it. */
  async pid(): Promise<number> {
    const shell = Number(await this.format("#{pane_pid}"));
    const children = await childrenOf(shell);
    const own = children.find(({ command }) => command.includes(entry));
    if (own === undefined) throw new Error("the command line does not run");
    return own.pid;
  }

  async tmux(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command(
      "/usr/bin/tmux",
      {
        args: ["-u", "-S", this.#socket, ...args],
        clearEnv: true,
        env: this.#environment,
      },
    ).output();
    const decoder = new TextDecoder();
    if (!success) {
      throw new Error(`tmux ${args[0]}: ${decoder.decode(stderr)}`);
    }
    return decoder.decode(stdout);
  }

  async end(): Promise<void> {
    await this.tmux("kill-server").catch(() => {});
  }
}
