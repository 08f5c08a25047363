/**
 * A ship and a bridge as processes of their own, under their real permission flags, with sign-in and a
 * token pair; and clients of their two terminal routes, well behaved and raw.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { dial } from "../../shared/host/dial.ts";
import { limits } from "../../shared/limits.ts";
import { sessionName } from "../../ship/tmux/names.ts";
import {
  eventually,
  type LoneDaemon,
  Place,
  processes,
  type ProcessInfo,
  startLone,
} from "../support/grid_process.ts";
import { idOf } from "../support/grid_support.ts";
import { RawClient, until, upgradeHead } from "../support/listen_support.ts";
import { GridClient } from "./grid_client.ts";

/** The route that a client takes: straight to the ship, or through the bridge. */
export type Hop = "ship" | "bridge";
export const hops: readonly Hop[] = ["ship", "bridge"];

const admin = { username: "ada", email: "ada@example.test", password: "correct horse battery" };
const repo = "web";
/** A test may leave a script for each workspace's session; without one it is a shell. */
const sessionCommand = (place: Place) =>
  `f="${place.root}/run-$GRID_WORKSPACE"; [ -f "$f" ] && exec sh "$f"; export PS1='$ '; exec sh`;

export class DaemonGrid implements AsyncDisposable {
  token = "";
  bridge!: LoneDaemon;
  ship!: LoneDaemon;
  readonly #bridgeToken = randomBytes(32).toString("base64url");
  #remote = "";
  readonly #stack = new AsyncDisposableStack();

  private constructor(readonly place: Place) {
    this.#stack.use(place);
  }

  static async start(): Promise<DaemonGrid> {
    const grid = new DaemonGrid(await Place.make());
    try {
      await grid.#begin();
    } catch (thrown) {
      await grid[Symbol.asyncDispose]();
      throw thrown;
    }
    return grid;
  }

  async #begin(): Promise<void> {
    const shipToken = randomBytes(32).toString("base64url");
    this.#remote = await this.place.makeRemote();
    await this.startShip({ GRID_SHIP_TOKEN: shipToken });
    await this.#startBridge();
    this.token = await this.login(admin);
    const registration = { url: this.ship.url, bridgeToken: this.#bridgeToken, shipToken };
    await this.ask("bridge", "POST", "/ships", { body: registration });
  }

  async #startBridge(): Promise<void> {
    this.bridge = this.#stack.use(
      await startLone("bridge", this.place, {
        signedIn: true,
        environment: {
          GRID_BRIDGE_ADMIN_USER: admin.username,
          GRID_BRIDGE_ADMIN_EMAIL: admin.email,
          GRID_BRIDGE_ADMIN_PASSWORD: admin.password,
        },
      }),
    );
  }

  /** TERM, and another one on the same data. */
  async restartBridge(): Promise<void> {
    await this.bridge.daemon.stop();
    await this.#startBridge();
  }

  async startShip(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    this.ship = this.#stack.use(
      await startLone("ship", this.place, {
        sessionCommand: sessionCommand(this.place),
        environment: { GRID_BRIDGE_TOKEN: this.#bridgeToken, ...environment },
      }),
    );
  }

  /** Creates and activates a workspace whose session runs `script` (default: a shell). */
  async workspace(name: string, script?: string): Promise<string> {
    if (script !== undefined) await Deno.writeTextFile(this.place.at(`run-${name}`), script);
    const body = { url: this.#remote, repoName: repo, name, branch: "main" };
    await this.ask("ship", "POST", "/workspaces", { body });
    await this.ask("ship", "POST", `/workspaces/${repo}/${name}/activate`);
    await eventually("the bridge knows the workspace", async () => {
      const rows = await this.ask("bridge", "GET", "/workspaces") as { name: string }[];
      return rows.some((row) => row.name === name);
    });
    return name;
  }

  /** Signs in; the session's token. */
  async login({ username, password }: typeof admin): Promise<string> {
    const body = { username, password };
    return (await this.ask("bridge", "POST", "/auth/login", { body }) as { token: string }).token;
  }

  /** A request with the credential that belongs there; throws unless it answers 2xx. */
  async ask(
    hop: Hop,
    method: string,
    path: string,
    { body, token = hop === "ship" ? this.#bridgeToken : this.token }: {
      readonly body?: unknown;
      readonly token?: string;
    } = {},
  ): Promise<unknown> {
    const response = await fetch(this[hop].url + path, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  async ticket(token = this.token): Promise<string> {
    const answer = await this.ask("bridge", "POST", "/auth/ws-ticket", { token });
    return (answer as { ticket: string }).ticket;
  }

  path(name: string, ticket?: string): string {
    const query = ticket === undefined ? "" : `?ticket=${ticket}`;
    return `/workspaces/${repo}/${name}/terminal${query}`;
  }

  /** A well-behaved client; `init` is its own to send. `token` is the user's whose ticket it takes. */
  async connect(hop: Hop, name: string, token?: string): Promise<GridClient> {
    const ticket = hop === "bridge" ? await this.ticket(token) : undefined;
    const url = this[hop].url.replace(/^http/, "ws") + this.path(name, ticket);
    return new GridClient(
      await dial(url, {
        headers: hop === "ship" ? { authorization: `Bearer ${this.#bridgeToken}` } : {},
        compress: true,
        payloadBytesMax: limits.terminalPayloadBytesMax,
        openTimeoutMs: 10_000,
      }),
    );
  }

  /** A client that has its first picture; tries again while the terminal is somebody else's. */
  async attached(hop: Hop, name: string, token?: string): Promise<GridClient> {
    return await eventually(`a picture of ${name} over the ${hop}`, async () => {
      const client = await this.connect(hop, name, token);
      client.send({ type: "init", cols: 80, rows: 24 });
      await until("a frame or the end", () => client.frames > 0 || client.closed !== null);
      if (client.follower.grid !== null) return client;
      await client.closes();
      return null;
    });
  }

  /** The upgrade has been answered; from here on the bytes are the test's. */
  async raw(hop: Hop, name: string, { compress = false } = {}): Promise<RawClient> {
    const { host, port } = new URL(this[hop].url);
    const ticket = hop === "bridge" ? await this.ticket() : undefined;
    const client = new RawClient(Number(port));
    const head = upgradeHead(
      (hop === "ship" ? `Authorization: Bearer ${this.#bridgeToken}\r\n` : "") +
        (compress ? "Sec-WebSocket-Extensions: permessage-deflate\r\n" : ""),
      this.path(name, ticket),
    );
    client.write(head.replace("Host: x", `Host: ${host}`));
    await client.expect("HTTP/1.1 101");
    await client.expect("\r\n\r\n");
    return client;
  }

  /** The guard is free and nothing is left: a new client gets its picture, and goes. */
  async isFree(hop: Hop, name: string): Promise<void> {
    const client = await this.attached(hop, name);
    client.socket.close(1000);
    await client.closes();
    await this.noChildren(name);
  }

  /** Waits until no program that shows a session (default: any) is left. */
  async noChildren(name?: string): Promise<void> {
    let left: ProcessInfo[] = [];
    await eventually("no child is left", async () => {
      left = await this.children(name);
      return left.length === 0;
    }).catch((thrown) => assert.fail(`${thrown.message}: ${left.map((each) => each.command)}`));
  }

  /**
   * What attaches: shells, `cat`, `script`, tmux clients, side clients; of one workspace all but `cat`,
   * which is given no name.
   */
  async children(name?: string): Promise<ProcessInfo[]> {
    const server = Number((await this.place.tmux("display-message", "-p", "#{pid}")).trim());
    const session = name === undefined ? "" : await sessionName(idOf(repo, name));
    const daemons = [this.ship.daemon.pid, this.bridge.daemon.pid];
    return (await processes()).filter(({ pid, command, environment }) =>
      environment.includes(`TMUX_TMPDIR=${this.place.at("t")}`) && command.includes(session) &&
      // Not what runs inside a session, nor the server, the daemons, and their short calls.
      !/(^|\0)TMUX=/.test(environment) && pid !== server && !daemons.includes(pid) &&
      !/^\S*(git|timeout|deno)\b|list-panes|display-message/.test(command)
    );
  }

  /** Resident memory of the daemon. */
  async residentBytes(hop: Hop): Promise<number> {
    const status = await Deno.readTextFile(`/proc/${this[hop].daemon.pid}/status`);
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
