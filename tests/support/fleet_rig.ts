/** The bridge's fleet, routing and routes put together on a temporary data directory, without a gate. */
import { TerminalRoute } from "../../bridge/routing/terminal.ts";
import assert from "node:assert/strict";
import { type BridgeApi, bridgeApi } from "../../shared/api/bridge_api.ts";
import { EphemeralStore } from "../../bridge/ephemeral/records.ts";
import { Sweeper } from "../../bridge/ephemeral/sweeper.ts";
import { sweptFleet } from "../../bridge/ephemeral/swept_fleet.ts";
import { BridgeEvents } from "../../bridge/events.ts";
import { GitHubProvider } from "../../bridge/provider/github/github.ts";
import { Providers } from "../../bridge/provider/providers.ts";
import { Branches } from "../../bridge/fleet/branches.ts";
import { MemoryShipCredentials } from "./memory_credentials.ts";
import { Fleet, type FleetOptions } from "../../bridge/fleet/fleet.ts";
import { Repos } from "../../bridge/fleet/repos.ts";
import { Creator } from "../../bridge/routing/create.ts";
import { Forward } from "../../bridge/routing/forward.ts";
import { Merged } from "../../bridge/routing/merged.ts";
import { bridgeHandlers, type FleetRoute } from "../../bridge/routes.ts";
import { forgeApi } from "../../shared/api/forge_api.ts";
import { systemClock } from "../../shared/clock.ts";
import { CommandLane } from "../../shared/host/command.ts";
import { dial } from "../../shared/host/dial.ts";
import { inProcessConnection } from "../../shared/http/connection.ts";
import { type Handlers, router } from "../../shared/http/router.ts";
import { createLog } from "../../shared/log.ts";
import type { Socket } from "../../shared/http/socket.ts";
import type { BridgeEvent } from "../../shared/schema/event.ts";
import { until } from "./listen_support.ts";
import type { ShipDouble } from "./ship_double.ts";

const fleetRoutes: readonly FleetRoute[] = [
  "listShips",
  "registerShip",
  "removeShip",
  "shipResources",
  "allResources",
  "listRepos",
  "createRepo",
  "removeRepo",
  "listBranches",
  "listWorkspaces",
  "createWorkspace",
  "getWorkspace",
  "deleteWorkspace",
  "diffWorkspace",
  "switchBranch",
  "activateWorkspace",
  "deactivateWorkspace",
  "events",
  "sweep",
  "terminal",
  ...Object.keys(forgeApi) as (keyof typeof forgeApi)[],
];

export interface RigOptions extends Partial<FleetOptions> {
  /** Where GitHub's API is, with the token for it (default: no token). */
  readonly github?: { readonly token: string; readonly apiUrl: string; readonly callMs?: number };
  /** Default: far away; tests sweep by the route. */
  readonly sweepIntervalMs?: number;
}

export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- tests look into answers of every form
  readonly body: any;
}

/** A socket that keeps what it is sent; its backlog is whatever the test says. */
export class KeptSocket implements Socket {
  readonly events: BridgeEvent[] = [];
  closedWith: number | null = null;
  terminated = false;
  bufferedBytes = 0;
  readonly #onClose: ((code: number, reason: string) => void)[] = [];
  get closed(): boolean {
    return this.closedWith !== null || this.terminated;
  }
  send(text: string): void {
    this.events.push(JSON.parse(text));
  }
  close(code: number): void {
    this.closedWith = code;
    for (const handler of this.#onClose) handler(code, "");
  }
  terminate(): void {
    this.terminated = true;
    for (const handler of this.#onClose) handler(1006, "");
  }
  pause(): void {}
  resume(): void {}
  onSent(): void {}
  onText(): void {}
  onBinary(): void {}
  onClose(handler: (code: number, reason: string) => void): void {
    this.#onClose.push(handler);
  }
}

export class FleetRig implements AsyncDisposable {
  readonly credentials = new MemoryShipCredentials();
  readonly logged: string[] = [];
  readonly fleet: Fleet;
  readonly repos: Repos;
  readonly events: BridgeEvents;
  readonly forward: Forward;
  readonly ephemeral: EphemeralStore;
  readonly sweeper: Sweeper;
  readonly fetch;

  private constructor(readonly directory: string, options: RigOptions) {
    const log = createLog("human", (line) => void this.logged.push(line));
    this.fleet = new Fleet({
      dataDirectory: directory,
      dial,
      resolve: () => Promise.resolve([]),
      allowLinkLocal: false,
      credentials: this.credentials,
      clock: systemClock,
      log,
      random: () => 0.05,
      ...options,
    });
    this.repos = new Repos(directory);
    const lane = new CommandLane({
      programs: { git: "/usr/bin/git" },
      timeoutPath: "/usr/bin/timeout",
      environment: { PATH: "/usr/bin:/bin" },
      concurrencyMax: 4,
      queueMax: 16,
    });
    const { fleet, repos } = this;
    const ephemeral = this.ephemeral = new EphemeralStore(directory);
    const merged = new Merged(fleet, ephemeral, log);
    const clock = options.clock ?? systemClock;
    const github = options.github ?? { token: null, apiUrl: "http://127.0.0.1:1" };
    const providers = new Providers([new GitHubProvider({ ...github, clock })]);
    this.events = new BridgeEvents({ fleet, merged, ephemeral, clock });
    this.forward = new Forward(fleet, ephemeral);
    this.sweeper = new Sweeper({
      records: ephemeral,
      providers,
      repo: (name) => repos.find(name),
      fleet: sweptFleet(fleet, this.forward),
      intervalMs: options.sweepIntervalMs ?? 3_600_000,
      clock,
      log,
    });
    const handlers = bridgeHandlers<null>({
      fleet,
      repos,
      branches: new Branches(lane),
      forward: this.forward,
      merged,
      creator: new Creator({ fleet, repos, providers, ephemeral, log }),
      providers,
      sweeper: this.sweeper,
      events: this.events,
      terminal: new TerminalRoute({ fleet, dial, log }),
      watch: () => {},
    });
    const table = Object.fromEntries(fleetRoutes.map((name) => [name, bridgeApi[name]]));
    this.fetch = router({
      table: table as unknown as BridgeApi,
      handlers: handlers as unknown as Handlers<BridgeApi, null>,
      gate: { identify: () => null, authorize: () => {} },
      log,
    });
  }

  /** A started bridge; `directory` makes it one that starts again. */
  static async start(
    options: RigOptions & { readonly directory?: string } = {},
  ): Promise<FleetRig> {
    const { directory = await Deno.makeTempDir({ prefix: "fleet-" }), ...rest } = options;
    const rig = new FleetRig(directory, rest);
    rig.events.start();
    try {
      await rig.repos.start();
      await rig.ephemeral.start();
      await rig.fleet.start();
      rig.sweeper.start();
    } catch (thrown) {
      await rig[Symbol.asyncDispose]();
      throw thrown;
    }
    return rig;
  }

  /** Stops it, and keeps its data directory. */
  async stop(): Promise<void> {
    await this.sweeper[Symbol.asyncDispose]();
    this.events[Symbol.dispose]();
    await this.fleet[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await Deno.remove(this.directory, { recursive: true }).catch(() => {});
  }

  async open(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const request = new Request(`http://bridge${path}`, { method, ...init });
    return await this.fetch(request, inProcessConnection(request));
  }

  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await this.open(method, path, json);
    const text = await response.text();
    try {
      return { status: response.status, body: JSON.parse(text) };
    } catch {
      return { status: response.status, body: text };
    }
  }

  async register(ship: ShipDouble, tokens: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.ask("POST", "/ships", { url: ship.url, ...tokens });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer;
  }

  async repo(name: string, url = "/nowhere", provider?: string): Promise<void> {
    const body = { name, url, ...(provider === undefined ? {} : { provider }) };
    assert.equal((await this.ask("POST", "/repos", body)).status, 201);
  }

  status(ship: ShipDouble | string): string | undefined {
    const name = typeof ship === "string" ? ship : ship.name;
    return this.fleet.list().find((one) => one.name === name)?.status;
  }

  async becomes(ship: ShipDouble | string, status: string): Promise<void> {
    await until(`ship is ${status}`, () => this.status(ship) === status);
  }

  attach(): KeptSocket {
    const socket = new KeptSocket();
    this.events.attach(socket);
    return socket;
  }
}

export function assertFails(answer: Answer, status: number, error: string): void {
  assert.deepEqual({ status: answer.status, error: answer.body.error }, { status, error });
}
