/** A bridge and its local ships, running: what `grid up` and `grid demo` share. */
import { join } from "node:path";
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { messageOf } from "../../shared/errors.ts";
import { makeDirectory } from "../../shared/host/machine.ts";
import { armoryPlaces, shipWritePaths } from "../../shared/host/ship_places.ts";
import { portIsFree } from "../../shared/host/ports.ts";
import { Client } from "../../shared/http/client.ts";
import type { ShipName } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import { CliFailure } from "../cli/failure.ts";
import type { DaemonCommand } from "./daemon_command.ts";
import { type LaunchAnswer, takeLaunchAnswer, writeExchange } from "./exchange.ts";
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
  /** The first admin's three variables, for a bridge that has none. */
  readonly adminVariables: Readonly<Record<string, string>>;
  /** What else the bridge's environment has, and no ship's. */
  readonly bridgeVariables: Readonly<Record<string, string>>;
  /** The session token that an earlier launch left for the command line. */
  readonly session: string | null;
}

/** Disposing stops the bridge, then the ships. */
export interface RunningGrid extends AsyncDisposable {
  readonly bridgeUrl: string;
  /** Of an admin, for the command line; null in insecure mode. */
  readonly session: LaunchAnswer["session"];
  /** Whether `adminVariables` were used. */
  readonly firstAdminCreated: boolean;
  readonly ships: ReadonlyArray<{ readonly name: ShipName; readonly url: string }>;
}

const shipPrograms = ["git", "tmux", "script", "stty", "ln", "timeout"];
const bridgePrograms = ["git", "timeout"];
const probeMs = 1_000;

/**
 * Starts the bridge, then the ships with the tokens that it made for them, then registers the ships. On any
 * failure all are stopped again. Throws `StartFailure` with `noAdminExitCode` when the bridge has no admin.
 */
export async function startGrid(options: GridOptions): Promise<RunningGrid> {
  await checkPorts(options.plan);
  await using stack = new AsyncDisposableStack();
  const { bridgeUrl, answer } = await startBridge(options, stack);
  const ships: Array<{ name: ShipName; url: string; tokens: ShipTokens | null }> = [];
  for (const plan of options.plan.ships) {
    options.stop.throwIfAborted();
    const tokens = answer.ships.find(({ name }) => name === plan.name) ?? null;
    const supervisor = stack.use(await shipSupervisor(plan, { ...options, bridgeUrl, tokens }));
    ships.push({ name: plan.name, url: callable(await supervisor.start()), tokens });
  }
  options.stop.throwIfAborted();
  await registerShips(ships, { bridgeUrl, token: answer.session?.token ?? null, options });
  const owned = stack.move();
  return {
    bridgeUrl,
    ships,
    session: answer.session,
    firstAdminCreated: answer.firstAdminCreated,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type ShipTokens = Pick<LaunchAnswer["ships"][number], "bridgeToken" | "shipToken">;

async function startBridge(
  options: GridOptions,
  stack: AsyncDisposableStack,
): Promise<{ readonly bridgeUrl: string; readonly answer: LaunchAnswer }> {
  const dataDir = await makeDirectory(options.plan.bridge.dataDir);
  const exchange = join(dataDir, `launch-${crypto.randomUUID()}.json`);
  await writeExchange(exchange, {
    kind: "request",
    ships: options.plan.ships.filter(({ guarded }) => guarded).map(({ name }) => name),
    session: options.session,
  });
  try {
    const supervisor = stack.use(bridgeSupervisor({ dataDir, exchange }, options));
    const bridgeUrl = callable(await supervisor.start());
    return { bridgeUrl, answer: await takeLaunchAnswer(exchange) };
  } catch (thrown) {
    await Deno.remove(exchange).catch(() => {});
    throw thrown;
  }
}

async function registerShips(
  ships: ReadonlyArray<{ name: ShipName; url: string; tokens: ShipTokens | null }>,
  { bridgeUrl, token, options }: {
    readonly bridgeUrl: string;
    readonly token: string | null;
    readonly options: GridOptions;
  },
): Promise<void> {
  const client = new Client({
    table: bridgeApi,
    baseUrl: bridgeUrl,
    timeoutMs: limits.shipCallMs,
    replyBytesMax: limits.shipReplyBytesMax,
    headers: (): Record<string, string> =>
      token === null ? {} : { authorization: `Bearer ${token}` },
  });
  for (const ship of ships) {
    await registerShip(client, ship, options.notice).catch((cause: unknown) => {
      throw new CliFailure(
        `ship ${ship.name} at ${ship.url} could not be registered: ${messageOf(cause)}`,
        { cause },
      );
    });
  }
}

async function shipSupervisor(
  plan: ShipPlan,
  options: GridOptions & { readonly bridgeUrl: string; readonly tokens: ShipTokens | null },
): Promise<Supervisor> {
  const { daemonCommand, environment, notice, tokens } = options;
  const own = {
    gridDirectory: await makeDirectory(plan.gridDirectory),
    stateDirectory: await makeDirectory(plan.stateDir),
  };
  // The ship is pinned to this origin: it must be the one under which the bridge pushes.
  const bridgeUrl = plannedPublicUrl(options.plan.bridge) ??
    `http://localhost:${new URL(options.bridgeUrl).port}`;
  const run = pathsOf(shipPrograms, options.programs);
  const scope = {
    read: run,
    write: await shipWritePaths(own, placesOf({ ...environment, ...plan.environment })),
    run,
    net: [plan.hostname, "127.0.0.1", "localhost", new URL(bridgeUrl).host],
  };
  // Of the interface: a ship reads its two tokens from its environment, and takes them out of it.
  const secrets: Record<string, string> = tokens === null
    ? {}
    : { GRID_BRIDGE_TOKEN: tokens.bridgeToken, GRID_SHIP_TOKEN: tokens.shipToken };
  return new Supervisor({
    label: `ship ${plan.name}`,
    port: plan.port,
    notice,
    command: (port) => ({
      ...daemonCommand(
        "ship",
        shipFlags(
          { ...plan, gridDirectory: own.gridDirectory, stateDir: own.stateDirectory },
          port,
          bridgeUrl,
        ),
        scope,
      ),
      env: { ...environment, ...plan.environment, ...secrets },
    }),
  });
}

function bridgeSupervisor(
  { dataDir, exchange }: { readonly dataDir: string; readonly exchange: string },
  options: GridOptions,
): Supervisor {
  const { daemonCommand, environment, notice, plan } = options;
  const publicUrl = plannedPublicUrl(plan.bridge);
  const run = pathsOf(bridgePrograms, options.programs);
  // The bridge's listener and whatever ships and forges are registered: no list can name them all.
  const scope = { read: run, write: [dataDir], run, net: "any" as const };
  return new Supervisor({
    label: "bridge",
    port: plan.bridge.port,
    notice,
    command: (port) => ({
      ...daemonCommand(
        "bridge",
        bridgeFlags({ ...plan.bridge, dataDir, publicUrl }, port, exchange),
        scope,
      ),
      env: { ...environment, ...options.bridgeVariables, ...options.adminVariables },
    }),
  });
}

/** What the bridge is told to call itself; null where its port is any free one: then it is localhost. */
function plannedPublicUrl({ publicUrl, port, hostname }: BridgePlan): string | null {
  if (publicUrl !== null) return publicUrl;
  return port === 0 ? null : `http://${callableHost(hostname)}:${port}`;
}

/** As the ship will see them: the launcher passes none of the armory's flags. */
const placesOf = ({ HOME }: Readonly<Record<string, string>>) =>
  armoryPlaces({ home: HOME ?? null, skillsDirs: [], pluginsDirs: [], dotfileRoots: [] });

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
