/**
 * The product as people run it: `grid up` and the other commands as processes of their own, in a temporary
 * home, under the permission flags of `deno.json`. The one place that knows how a test gets past sign-in.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Daemon, startDaemon } from "../../shared/host/daemon.ts";
import { daemonFlags, type DaemonKind, type DaemonScope } from "../../shared/host/permissions.ts";
import { makeRemote } from "./grid_support.ts";

export const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));
const searchPath = "/usr/bin:/bin";
const startMs = 60_000;
const waitMs = 20_000;

/** How tests get in: without sign-in. What changes when they sign in changes here alone. */
const access = {
  bridgeFlags: ["--insecure-no-auth"],
  gridConfig: { insecureNoAuth: true },
  cliEnvironment: {} as Record<string, string>,
  headers: {} as Record<string, string>,
};

/** A home, a tmux place and directories; removed in the end, tmux server and all. */
export class Place implements AsyncDisposable {
  private constructor(readonly root: string) {}

  static async make(): Promise<Place> {
    // A short name: the path of tmux's socket, which stands below, may have 107 bytes.
    const place = new Place(await Deno.realPath(await Deno.makeTempDir({ prefix: "e2e-" })));
    for (const name of ["home", "t", "grid", "state", "data", "bin", "tmp"]) {
      await Deno.mkdir(join(place.root, name), { mode: 0o700 });
    }
    return place;
  }

  at(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  /** The whole environment of a process here; nothing of the test's own but where modules are. */
  environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const home = Deno.env.get("HOME") ?? "/";
    return {
      PATH: searchPath,
      HOME: this.at("home"),
      TMPDIR: this.at("tmp"),
      TMUX_TMPDIR: this.at("t"),
      SHELL: "/bin/sh",
      NO_COLOR: "1",
      DENO_DIR: Deno.env.get("DENO_DIR") ?? join(home, ".cache", "deno"),
      ...more,
    };
  }

  makeRemote(): Promise<string> {
    return makeRemote(this.root);
  }

  /** A session command that writes the session's variables into a file, and waits. */
  get sessionCommand(): string {
    const path = `${this.root}/session-$GRID_WORKSPACE`;
    return `printenv > "${path}.new"; mv "${path}.new" "${path}"; exec cat`;
  }

  /** What the session of the workspace was started with. */
  async sessionEnvironment(name: string): Promise<Record<string, string>> {
    const text = await eventually(
      `the session of ${name} begins`,
      () => Deno.readTextFile(this.at(`session-${name}`)).catch(() => null),
    );
    return Object.fromEntries(
      text.split("\n").filter((line) => line.includes("=")).map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
  }

  async tmux(...args: string[]): Promise<string> {
    const { stdout } = await new Deno.Command("/usr/bin/tmux", {
      args: ["-L", "grid-ship", ...args],
      clearEnv: true,
      env: { PATH: searchPath, TMUX_TMPDIR: this.at("t") },
      stderr: "null",
    }).output();
    return new TextDecoder().decode(stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tmux("kill-server");
    await Deno.remove(this.root, { recursive: true });
  }
}

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The flags between `deno` and the entry, as the task `grid` in deno.json has them. */
async function cliCommand(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(join(repositoryRoot, "deno.json")));
  const words: string[] = tasks.grid.command.split(" ");
  assert.equal(words[0], "deno");
  return words.slice(1).map((word) => word.endsWith(".ts") ? join(repositoryRoot, word) : word);
}

/** Runs `grid …` to its end, without a terminal. */
export async function runGrid(
  place: Place,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...await cliCommand(), ...args],
    cwd: place.root,
    clearEnv: true,
    env: place.environment(environment),
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** `grid up` as a process, with everything that it said. */
export class GridProcess implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly errorLines: string[] = [];
  bridgeUrl = "";
  readonly shipUrls = new Map<string, string>();

  private constructor(readonly place: Place, readonly daemon: Daemon) {}

  /** Starts it with a config file for these ships, and waits until all of them are registered. */
  static async up(place: Place, ships: readonly string[] = ["ark"]): Promise<GridProcess> {
    const config = {
      bridge: { port: 0, dataDir: place.at("data"), ...access.gridConfig },
      ships: ships.map((name) => ({
        name,
        port: 0,
        gridDirectory: place.at("grid", name),
        stateDir: place.at("state", name),
        sessionCommand: place.sessionCommand,
      })),
    };
    await Deno.writeTextFile(place.at("grid.json"), JSON.stringify(config));
    let grid: GridProcess | null = null;
    const early: string[] = [];
    const daemon = startDaemon({
      path: Deno.execPath(),
      args: [...await cliCommand(), "up", "--config", "grid.json", "--json"],
      cwd: place.root,
      env: place.environment(),
      graceMs: 20_000,
      onLine: (line) => grid === null ? void early.push(line) : grid.#hear(line),
      onErrorLine: (line) => void grid?.errorLines.push(line),
    });
    grid = new GridProcess(place, daemon);
    for (const line of early) grid.#hear(line);
    try {
      await grid.#ready(ships);
    } catch (thrown) {
      await grid.daemon.stop();
      throw thrown;
    }
    return grid;
  }

  /** Runs a command of the CLI against this bridge. */
  run(...args: string[]): Promise<Result> {
    return runGrid(this.place, args, {
      GRID_BRIDGE_URL: this.bridgeUrl,
      ...access.cliEnvironment,
    });
  }

  /** Starts a command that goes on for a while; `lines` grows with what it prints. */
  async begin(...args: string[]): Promise<{ daemon: Daemon; lines: string[] }> {
    const lines: string[] = [];
    const daemon = startDaemon({
      path: Deno.execPath(),
      args: [...await cliCommand(), ...args],
      cwd: this.place.root,
      env: this.place.environment({ GRID_BRIDGE_URL: this.bridgeUrl, ...access.cliEnvironment }),
      onLine: (line) => void lines.push(line),
    });
    return { daemon, lines };
  }

  /** Runs it with --json: throws unless it ends well; gives what it printed. */
  async json(...args: string[]): Promise<unknown> {
    const { code, stdout, stderr } = await this.run(...args, "--json");
    assert.equal(code, 0, `grid ${args.join(" ")}: ${stderr}${stdout}`);
    return JSON.parse(stdout);
  }

  /** A request of the bridge, as a signed-in admin. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    return await askBridge(this.bridgeUrl, method, path, body);
  }

  /** Process ids of the daemon (`bridge`, `ship`), found by its entry file. */
  async pids(kind: DaemonKind): Promise<number[]> {
    const entry = join(repositoryRoot, kind, "main.ts");
    const children = await childrenOf(this.daemon.pid);
    return children.filter(({ command }) => command.includes(entry)).map(({ pid }) => pid);
  }

  /** TERM; the exit code. */
  async stop(): Promise<number> {
    return (await this.daemon.stop()).code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon.stop();
  }

  #hear(line: string): void {
    this.lines.push(line);
    const notice = JSON.parse(line);
    if (notice.kind !== "started") return;
    if (notice.daemon === "bridge") this.bridgeUrl = notice.url;
    else this.shipUrls.set(notice.daemon.replace(/^ship /, ""), notice.url);
  }

  async #ready(ships: readonly string[]): Promise<void> {
    let ended = false;
    void this.daemon.ended.then(() => ended = true);
    await eventually("the grid is up", async () => {
      if (ended) {
        throw new Error(`grid up ended: ${[...this.errorLines, ...this.lines].join("\n")}`);
      }
      if (this.bridgeUrl === "") return null;
      const roster = await this.ask("GET", "/ships").catch(() => []) as { status: string }[];
      return roster.filter(({ status }) => status === "online").length === ships.length || null;
    }, startMs);
  }
}

/** A request of a bridge; throws unless it answers 2xx. */
export async function askBridge(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { "content-type": "application/json", ...access.headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(waitMs),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

export interface LoneDaemon extends AsyncDisposable {
  readonly url: string;
  readonly daemon: Daemon;
  /** Everything that it wrote to standard output and error. */
  readonly lines: readonly string[];
}

export interface LoneOptions {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Where its programs are (default /usr/bin). */
  readonly programs?: string;
  /** A name for the ship (default `ark`). */
  readonly name?: string;
  /** What the ship's sessions run (default: the place's). */
  readonly sessionCommand?: string;
}

/** One daemon as a process of its own, under the flags of `shared/host/permissions.ts`. */
export async function startLone(
  kind: DaemonKind,
  place: Place,
  options: LoneOptions = {},
): Promise<LoneDaemon> {
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  const daemon = startDaemon({
    path: Deno.execPath(),
    args: loneArguments(kind, place, options),
    cwd: place.root,
    env: place.environment(options.environment),
    onLine: keep,
    onErrorLine: keep,
  });
  const url = await daemon.listening(startMs);
  if (url === null) {
    await daemon.stop();
    throw new Error(`the ${kind} did not start: ${lines.join("\n")}`);
  }
  return { url, daemon, lines, [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose]() };
}

/** The arguments of `deno` for a daemon in `place`. */
export function loneArguments(kind: DaemonKind, place: Place, options: LoneOptions = {}): string[] {
  const programs = ["git", "tmux", "timeout", "script", "stty", "ln"].map((name) =>
    join(options.programs ?? "/usr/bin", name)
  );
  const name = options.name ?? "ark";
  const scopes: Record<DaemonKind, DaemonScope> = {
    bridge: { read: programs, write: [place.at("data")], run: programs, net: "any" },
    ship: {
      read: programs,
      write: [place.at("grid"), place.at("state")],
      run: programs,
      net: ["127.0.0.1"],
    },
  };
  const flags = {
    bridge: ["--port=0", `--data-dir=${place.at("data")}`, ...access.bridgeFlags],
    ship: [
      "--port=0",
      `--name=${name}`,
      `--grid-directory=${place.at("grid")}`,
      `--state-dir=${place.at("state")}`,
      `--session-command=${options.sessionCommand ?? place.sessionCommand}`,
    ],
  }[kind];
  const entry = join(repositoryRoot, kind, "main.ts");
  return ["run", ...daemonFlags(kind, scopes[kind]), entry, ...flags, ...options.flags ?? []];
}

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** NUL-separated, empty when it cannot be read. */
  readonly environment: string;
}

/** Every process of this host, as /proc shows it. */
export async function processes(): Promise<ProcessInfo[]> {
  const found: ProcessInfo[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string) => Deno.readTextFile(`/proc/${name}/${file}`).catch(() => "");
    const [stat, command, environment] = await Promise.all(
      ["stat", "cmdline", "environ"].map(read),
    );
    // The name in brackets may hold anything; the parent is the second field after it.
    const parent = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    found.push({
      pid: Number(name),
      parent,
      command: command?.replaceAll("\0", " ") ?? "",
      environment: environment ?? "",
    });
  }
  return found;
}

export async function childrenOf(pid: number): Promise<ProcessInfo[]> {
  return (await processes()).filter(({ parent }) => parent === pid);
}

/** Asks until the answer is neither null nor false; fails after `boundMs`. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null | false>,
  boundMs = waitMs,
): Promise<T> {
  for (const until = performance.now() + boundMs; performance.now() < until;) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within ${boundMs} ms: ${what}`);
}
