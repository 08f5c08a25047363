/** A whole ship in this process: real git, a real tmux server of its own, a real port. */
import { join } from "node:path";
import { z } from "zod";
import type { Log } from "../../shared/log.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import { fleetEventSchema } from "../../shared/schema/event.ts";
import { dial, type DialOptions } from "../../shared/host/dial.ts";
import { findProgram } from "../../shared/host/files.ts";
import { armoryPlaces } from "../../shared/host/ship_places.ts";
import { startShip } from "../../ship/ship.ts";
import { makeRemote } from "./grid_support.ts";

type FleetEvent = z.infer<typeof fleetEventSchema>;

export interface ShipOptions {
  /** What it presents to its bridge (default: nothing). */
  readonly shipToken?: string | null;
  readonly bridgeToken?: string | null;
  readonly hostname?: string;
}

export interface AskOptions {
  /** Presented as the bearer; null presents none. Default: the bridge's token. */
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, undefined when it is none. */
  readonly json: unknown;
}

const searchPath = "/usr/bin:/bin";
const waitMs = 10_000;

export class TestShip implements AsyncDisposable {
  readonly warnings: string[] = [];
  #stack = new AsyncDisposableStack();
  url = "";

  private constructor(
    readonly root: string,
    readonly remote: string,
    readonly bridgeToken: string | null,
    private readonly shipToken: string | null,
  ) {}

  static async start(options: ShipOptions = {}): Promise<TestShip> {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "grid-ship-" }));
    const { bridgeToken = "bridge-secret", shipToken = null, hostname = "127.0.0.1" } = options;
    const ship = new TestShip(root, await makeRemote(root), bridgeToken, shipToken);
    ship.#stack.defer(() => Deno.remove(root, { recursive: true }));
    try {
      await ship.#start(hostname);
    } catch (thrown) {
      await ship[Symbol.asyncDispose]();
      throw thrown;
    }
    return ship;
  }

  get gridDirectory(): string {
    return join(this.root, "grid");
  }

  directoryOf(repo: string, name: string): string {
    return join(this.gridDirectory, repo, name);
  }

  /** One request of the ship; paths go as they are. */
  async ask(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const token = options.token === undefined ? this.bridgeToken : options.token;
    const body = options.body === undefined
      ? undefined
      : typeof options.body === "string"
      ? options.body
      : JSON.stringify(options.body);
    const response = await fetch(`${this.url}${path}`, {
      method,
      body,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...options.headers,
      },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: asJson(text) };
  }

  /** Makes the workspace `repo/name` from the remote. Throws unless the ship answers 201. */
  async create(name: string, branch = "main", repoName = "repo"): Promise<void> {
    const body = { url: this.remote, repoName, name, branch };
    const { status, text } = await this.ask("POST", "/workspaces", { body });
    if (status !== 201) throw new Error(`create: ${status} ${text}`);
  }

  async activate(name: string, repo = "repo"): Promise<void> {
    const { status, text } = await this.ask("POST", `/workspaces/${repo}/${name}/activate`);
    if (status !== 200) throw new Error(`activate: ${status} ${text}`);
  }

  /** The variables that the workspace's session was started with; the session writes them down. */
  async sessionEnvironment(name: string): Promise<Record<string, string>> {
    const path = join(this.root, `session-${name}`);
    for (const until = performance.now() + waitMs; performance.now() < until;) {
      const text = await Deno.readTextFile(path).catch(() => "");
      if (text !== "") {
        await Deno.remove(path);
        return Object.fromEntries(
          text.split("\n").filter((line) => line.includes("=")).map((line) => [
            line.slice(0, line.indexOf("=")),
            line.slice(line.indexOf("=") + 1),
          ]),
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`the session of ${name} wrote nothing`);
  }

  async mcpToken(name: string): Promise<string> {
    const token = (await this.sessionEnvironment(name))["GRID_MCP_TOKEN"];
    if (token === undefined) throw new Error(`the session of ${name} has no token`);
    return token;
  }

  /** Opens the events socket. */
  async events(options: Partial<DialOptions> = {}): Promise<ShipEvents> {
    const headers: Record<string, string> = this.bridgeToken === null
      ? {}
      : { authorization: `Bearer ${this.bridgeToken}` };
    const socket = await dial(`${this.url.replace("http", "ws")}/events`, {
      openTimeoutMs: waitMs,
      headers,
      ...options,
    });
    return new ShipEvents(socket);
  }

  /** Ends the tmux server behind the ship's back. */
  async killTmux(): Promise<void> {
    await tmux(this.root, "kill-server");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #start(hostname: string): Promise<void> {
    const home = join(this.root, "home");
    await Deno.mkdir(home);
    await Deno.mkdir(join(this.root, "t"), { mode: 0o700 });
    this.#stack.defer(() => this.killTmux());
    const keep = (message: string) => void this.warnings.push(message);
    const log: Log = { info() {}, warn: keep, error: keep };
    const program = async (name: string) => {
      const path = await findProgram(name, searchPath);
      if (path === null) throw new Error(`${name} is missing`);
      return path;
    };
    const running = await startShip(
      {
        gridDirectory: this.gridDirectory,
        name: parseIdentifier("ship", "ark"),
        hostname,
        port: 0,
        stateDirectory: join(this.root, "state"),
        bridgeUrl: null,
        places: armoryPlaces({ home, skillsDirs: [], pluginsDirs: [], dotfileRoots: [] }),
        // Written whole before it gets its name, so that nobody reads half of it.
        sessionCommand: `printenv > "${this.root}/new-$GRID_WORKSPACE"; ` +
          `mv "${this.root}/new-$GRID_WORKSPACE" "${this.root}/session-$GRID_WORKSPACE"; exec cat`,
        shell: "/bin/sh",
        cloneProtocols: ["https", "http", "ssh", "git", "file"],
        allowedOrigins: ["https://allowed.example"],
        logFormat: null,
        bridgeToken: this.bridgeToken,
        shipToken: this.shipToken,
        environment: { PATH: searchPath, HOME: home, TMUX_TMPDIR: join(this.root, "t") },
      },
      {
        git: await program("git"),
        tmux: await program("tmux"),
        timeout: await program("timeout"),
        script: await program("script"),
        stty: await program("stty"),
        ln: await program("ln"),
      },
      log,
    );
    this.#stack.use(running);
    this.url = running.url.replace("0.0.0.0", "127.0.0.1");
  }
}

type Socket = Awaited<ReturnType<typeof dial>>;

/** The frames of an events socket, each checked against the schema. */
export class ShipEvents implements AsyncDisposable {
  readonly #frames: FleetEvent[] = [];
  readonly #closed = Promise.withResolvers<number>();

  constructor(private readonly socket: Socket) {
    socket.onText((text) => void this.#frames.push(fleetEventSchema.parse(JSON.parse(text))));
    socket.onClose((code) => this.#closed.resolve(code));
  }

  /** The next frame; fails when none comes. */
  async next(): Promise<FleetEvent> {
    for (const until = performance.now() + waitMs; performance.now() < until;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return frame;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error("no event came");
  }

  /** The code with which it was closed. */
  get closed(): Promise<number> {
    return this.#closed.promise;
  }

  send(text: string): void {
    this.socket.send(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close(1000, "");
    await this.#closed.promise;
  }
}

async function tmux(root: string, ...args: string[]): Promise<void> {
  await new Deno.Command("/usr/bin/tmux", {
    args: ["-L", "grid-ship", ...args],
    clearEnv: true,
    env: { PATH: searchPath, TMUX_TMPDIR: join(root, "t") },
    stderr: "null",
    stdout: "null",
  }).output();
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
