/** A bridge and its local ships, running: what `grid up` and `grid demo` share. */
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { messageOf } from "../../shared/errors.ts";
import { makeDirectory } from "../../shared/host/machine.ts";
import { portIsFree } from "../../shared/host/ports.ts";
import { Client } from "../../shared/http/client.ts";
import type { ShipName } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import { CliFailure } from "../cli/failure.ts";
import type { DaemonCommand } from "./daemon_command.ts";
import type { Notice } from "./notice.ts";
import {
  bridgeFlags,
  type BridgePlan,
  callableHost,
  type LaunchPlan,
  shipFlags,
  type ShipPlan,
} from "./plan.ts";
import { registerShip } from "./registration.ts";
import { Supervisor } from "./supervisor.ts";

export interface GridOptions {
  readonly plan: LaunchPlan;
  readonly daemonCommand: DaemonCommand;
  /** Absolute paths of the programs, by name, as preflight found them. */
  readonly programs: Readonly<Record<string, string>>;
  /** The whole environment of the daemons. */
  readonly environment: Readonly<Record<string, string>>;
  readonly notice: (notice: Notice) => void;
  readonly stop: AbortSignal;
}

/** Disposing stops the bridge, then the ships. */
export interface RunningGrid extends AsyncDisposable {
  readonly bridgeUrl: string;
  readonly ships: ReadonlyArray<{ readonly name: ShipName; readonly url: string }>;
}

const shipPrograms = ["git", "tmux", "script", "stty", "ln", "timeout"];
const bridgePrograms = ["git", "timeout"];
const probeMs = 1_000;

/** Starts the ships, then the bridge, then registers the ships. On any failure all are stopped again. */
export async function startGrid(options: GridOptions): Promise<RunningGrid> {
  await checkPorts(options.plan);
  await using stack = new AsyncDisposableStack();
  const ships: Array<{ name: ShipName; url: string }> = [];
  for (const plan of options.plan.ships) {
    const supervisor = stack.use(await shipSupervisor(plan, options));
    ships.push({ name: plan.name, url: callable(await supervisor.start()) });
    options.stop.throwIfAborted();
  }
  const bridge = stack.use(await bridgeSupervisor(options.plan.bridge, options));
  const bridgeUrl = callable(await bridge.start());
  options.stop.throwIfAborted();
  const client = new Client({
    table: bridgeApi,
    baseUrl: bridgeUrl,
    timeoutMs: limits.shipCallMs,
    replyBytesMax: limits.shipReplyBytesMax,
  });
  for (const ship of ships) {
    await registerShip(client, ship, options.notice).catch((cause: unknown) => {
      throw new CliFailure(
        `ship ${ship.name} at ${ship.url} could not be registered: ${messageOf(cause)}`,
        { cause },
      );
    });
  }
  const owned = stack.move();
  return { bridgeUrl, ships, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function shipSupervisor(plan: ShipPlan, options: GridOptions): Promise<Supervisor> {
  const { daemonCommand, environment, notice } = options;
  const gridDirectory = await makeDirectory(plan.gridDirectory);
  const stateDir = await makeDirectory(plan.stateDir);
  const bridgeUrl = plannedBridgeUrl(options.plan.bridge);
  const run = pathsOf(shipPrograms, options.programs);
  const scope = {
    read: run,
    write: [gridDirectory, stateDir],
    run,
    net: [
      plan.hostname,
      "127.0.0.1",
      "localhost",
      ...(bridgeUrl === null ? [] : [new URL(bridgeUrl).host]),
    ],
  };
  return new Supervisor({
    label: `ship ${plan.name}`,
    port: plan.port,
    notice,
    command: (port) => ({
      ...daemonCommand(
        "ship",
        shipFlags({ ...plan, gridDirectory, stateDir }, port, bridgeUrl),
        scope,
      ),
      env: { ...environment, ...plan.environment },
    }),
  });
}

async function bridgeSupervisor(plan: BridgePlan, options: GridOptions): Promise<Supervisor> {
  const { daemonCommand, environment, notice } = options;
  const dataDir = await makeDirectory(plan.dataDir);
  const run = pathsOf(bridgePrograms, options.programs);
  // The bridge's listener and whatever ships and forges are registered: no list can name them all.
  const scope = { read: run, write: [dataDir], run, net: "any" as const };
  return new Supervisor({
    label: "bridge",
    port: plan.port,
    notice,
    command: (port) => ({
      ...daemonCommand("bridge", bridgeFlags({ ...plan, dataDir }, port), scope),
      env: environment,
    }),
  });
}

/** Where ships will find the bridge, when that can be known before it runs. */
function plannedBridgeUrl({ publicUrl, port, hostname }: BridgePlan): string | null {
  if (publicUrl !== null) return publicUrl;
  return port === 0 ? null : `http://${callableHost(hostname)}:${port}`;
}

const pathsOf = (names: readonly string[], programs: Readonly<Record<string, string>>) =>
  names.flatMap((name) => programs[name] ?? []);

/** `http://0.0.0.0:4700` is where a daemon listens, not where it can be called. */
function callable(listeningUrl: string): string {
  const url = new URL(listeningUrl);
  return `${url.protocol}//${callableHost(url.hostname)}:${url.port}`;
}

/** Throws `CliFailure` that says which port is taken and what to do. */
async function checkPorts({ bridge, ships }: LaunchPlan): Promise<void> {
  if (bridge.port !== 0 && !portIsFree(bridge.hostname, bridge.port)) {
    const url = `http://${callableHost(bridge.hostname)}:${bridge.port}`;
    throw new CliFailure(
      await isBridge(url)
        ? `a bridge already answers at ${url}: use it (\`grid status\`), or stop it first`
        : `port ${bridge.port} on ${bridge.hostname} is taken by another program: stop that, or ` +
          `choose another port with --port ${bridge.port + 1} (or bridge.port in grid.json)`,
    );
  }
  for (const { name, hostname, port } of ships) {
    if (port === 0 || portIsFree(hostname, port)) continue;
    throw new CliFailure(
      `port ${port} on ${hostname}, meant for ship ${name}, is taken (by another ship?): stop what ` +
        `listens there, or choose another with --ship-port ${port + 1} (or the ship's port in ` +
        `grid.json)`,
    );
  }
}

async function isBridge(url: string): Promise<boolean> {
  const client = new Client({
    table: bridgeApi,
    baseUrl: url,
    timeoutMs: probeMs,
    replyBytesMax: limits.requestBodyBytesMax,
  });
  return await client.call("authMode", {}).then(() => true, () => false);
}
