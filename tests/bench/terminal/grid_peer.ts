/** Workspace Grid as the bench's subject: a ship as a process of its own, with or without a bridge before it. */
import { systemClock } from "../../../shared/clock.ts";
import { dial } from "../../../shared/host/dial.ts";
import type { Socket } from "../../../shared/http/socket.ts";
import { limits } from "../../../shared/limits.ts";
import { Acks } from "../../../shared/terminal/acks.ts";
import { ScreenFollower } from "../../../shared/terminal/client.ts";
import type { Grid } from "../../../shared/terminal/grid.ts";
import type { ClientFrame } from "../../../shared/terminal/protocol.ts";
import {
  askBridge,
  eventually,
  type LoneDaemon,
  type Place,
  startLone,
} from "../../support/grid_process.ts";
import { descendantsOf } from "./processes.ts";
import { bashProfile, type Peer, type PeerKind, Sight, type Size } from "./peer.ts";

const path = "/workspaces/repo/work";

/** A running ship with one workspace, and a bridge that knows it. */
export class RunningGrid implements AsyncDisposable {
  private constructor(
    readonly place: Place,
    readonly ship: LoneDaemon,
    readonly bridge: LoneDaemon,
  ) {}

  static async start(place: Place): Promise<RunningGrid> {
    await Deno.writeTextFile(place.at("home", ".bash_profile"), bashProfile);
    const environment = { SHELL: "/bin/bash", LANG: "C.UTF-8" };
    const ship = await startLone("ship", place, {
      environment,
      sessionCommand: "exec bash -l",
    });
    const bridge = await startLone("bridge", place);
    const url = `file://${await place.makeRemote()}`;
    const body = { url, repoName: "repo", name: "work", branch: "main" };
    await askBridge(ship.url, "POST", "/workspaces", body);
    await askBridge(bridge.url, "POST", "/ships", { url: ship.url });
    return new RunningGrid(place, ship, bridge);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bridge[Symbol.asyncDispose]();
    await this.ship[Symbol.asyncDispose]();
  }
}

/** The ship's terminal, straight or through the bridge. */
export function gridKind(
  grid: RunningGrid,
  through: "ship" | "bridge",
): PeerKind {
  return {
    name: through === "ship" ? "grid" : "grid via bridge",
    ours: true,
    missing: () => Promise.resolve(null),
    async open(_place, size) {
      await askBridge(grid.ship.url, "POST", `${path}/activate`);
      const { url } = through === "ship" ? grid.ship : grid.bridge;
      return new GridPeer(grid, await terminalSocket(url, path), { size, path });
    },
  };
}

/** Opens the terminal of the workspace at `path`, as `grid attach` does. */
export function terminalSocket(url: string, path: string): Promise<Socket> {
  return dial(`${url.replace(/^http/, "ws")}${path}/terminal`, {
    openTimeoutMs: 20_000,
    payloadBytesMax: limits.terminalPayloadBytesMax,
    compress: true,
  });
}

export class GridPeer implements Peer {
  readonly #follower = new ScreenFollower();
  readonly #sight = new Sight();
  readonly #acks = new Acks({ clock: systemClock, send: (frame) => this.#send(frame) });

  constructor(
    private readonly grid: RunningGrid,
    private readonly socket: Socket,
    private readonly opened: { readonly size: Size; readonly path: string },
  ) {
    socket.onText((text) => this.#receive(text));
    this.#send({ type: "init", ...opened.size });
  }

  #receive(text: string): void {
    const received = this.#follower.receive(text);
    if (received.kind === "exit") return;
    this.#acks.answer(received.send, text.length);
    this.#look();
  }

  /** Everybody else is searched as bytes, while they come. */
  #look(): void {
    const { grid } = this.#follower;
    const { wanted } = this.#sight;
    this.#sight.see(
      grid !== null && wanted !== null && holds(grid, wanted) ? wanted : "",
      "screen",
    );
  }

  #send(frame: ClientFrame): void {
    this.socket.send(JSON.stringify(frame));
  }

  type(data: string): void {
    this.#send({ type: "input", data });
  }
  shows(text: string, boundMs?: number): Promise<number> {
    const shown = this.#sight.shows(text, boundMs);
    this.#look();
    return shown;
  }
  forget(): void {
    this.#sight.forget();
  }
  quiet(quietMs: number): Promise<void> {
    return this.#sight.quiet(quietMs);
  }
  tmux(...args: string[]): Promise<string> {
    return this.grid.place.tmux(...args);
  }
  async serverPids(): Promise<number[]> {
    const pids = [this.grid.ship.daemon.pid];
    return [...pids, ...await descendantsOf(pids)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#acks[Symbol.dispose]();
    this.socket.close(1000, "");
    await eventually(
      "the socket closes",
      () => Promise.resolve(this.socket.closed),
    );
    await askBridge(this.grid.ship.url, "POST", `${this.opened.path}/deactivate`);
  }
}

/** Whether `text`, of cells one code point each, stands in some row. */
function holds(grid: Grid, text: string): boolean {
  const wanted = [...text].map((character) => character.codePointAt(0)!);
  return grid.lines.some(({ codes }) => {
    for (let x = codes.indexOf(wanted[0]!); x !== -1; x = codes.indexOf(wanted[0]!, x + 1)) {
      if (wanted.every((code, i) => codes[x + i] === code)) return true;
    }
    return false;
  });
}
