/** From `grid.json` or nothing to exactly what is started. Pure. */
import { isAbsolute, join, resolve } from "node:path";
import { asIdentifier, type ShipName } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import type { GridConfig } from "./config.ts";

/** What the host gives; read once by the entry. */
export interface HostFacts {
  readonly home: string;
  readonly hostname: string;
  /** `$XDG_DATA_HOME` and `$XDG_STATE_HOME`, where set. */
  readonly dataHome: string | undefined;
  readonly stateHome: string | undefined;
  readonly workingDirectory: string;
}

/** What the command line sets; it wins over the file. */
export interface UpFlags {
  readonly port: number | undefined;
  readonly shipPort: number | undefined;
  readonly gridDirectory: string | undefined;
}

export interface BridgePlan {
  readonly port: number;
  readonly hostname: string;
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly sweepIntervalMs: number;
  readonly insecureNoAuth: boolean;
}

export interface ShipPlan {
  readonly name: ShipName;
  readonly port: number;
  readonly hostname: string;
  readonly gridDirectory: string;
  readonly stateDir: string;
  readonly sessionCommand: string | null;
  /** Whether it asks its callers for a token; only the demo's do not. */
  readonly guarded: boolean;
  /** What the ship's environment has beyond the launcher's. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface LaunchPlan {
  readonly bridge: BridgePlan;
  readonly ships: readonly ShipPlan[];
}

const loopback = "127.0.0.1";

/**
 * Fills in what `config` leaves out. `directory` is where the file's relative paths start (the file's own
 * directory), or the working directory.
 */
export function makePlan(
  config: GridConfig,
  flags: UpFlags,
  host: HostFacts & { readonly directory: string },
): LaunchPlan {
  const at = (path: string) => expand(path, host.home, host.directory);
  const bridge = config.bridge ?? {};
  const ships: NonNullable<GridConfig["ships"]> = config.ships ?? [{ name: defaultShipName(host) }];
  const only = ships.length === 1;
  return {
    bridge: {
      port: flags.port ?? bridge.port ?? limits.bridgePort,
      hostname: bridge.hostname ?? loopback,
      publicUrl: bridge.publicUrl ?? null,
      dataDir: at(bridge.dataDir ?? join(dataHome(host), "grid")),
      sweepIntervalMs: bridge.sweepIntervalMs ?? limits.sweepIntervalMs,
      insecureNoAuth: bridge.insecureNoAuth ?? false,
    },
    ships: ships.map((ship, index) => ({
      name: ship.name,
      port: (index === 0 ? flags.shipPort : undefined) ?? ship.port ??
        (flags.shipPort ?? limits.shipPort) + index,
      hostname: ship.hostname ?? loopback,
      gridDirectory: only && flags.gridDirectory !== undefined
        ? expand(flags.gridDirectory, host.home, host.workingDirectory)
        : at(ship.gridDirectory ?? join(host.home, only ? "grid" : `grid-${ship.name}`)),
      stateDir: at(ship.stateDir ?? join(stateHome(host), "grid", ship.name)),
      sessionCommand: ship.sessionCommand ?? null,
      guarded: true,
      environment: {},
    })),
  };
}

/** The host's name where it is an identifier, else `local`. */
export function defaultShipName({ hostname }: Pick<HostFacts, "hostname">): ShipName {
  return asIdentifier("ship", hostname) ?? "local" as ShipName;
}

/** A relative XDG directory is to be ignored (XDG base directory specification). */
const dataHome = ({ dataHome, home }: HostFacts) =>
  dataHome !== undefined && isAbsolute(dataHome) ? dataHome : join(home, ".local", "share");
const stateHome = ({ stateHome, home }: HostFacts) =>
  stateHome !== undefined && isAbsolute(stateHome) ? stateHome : join(home, ".local", "state");

function expand(path: string, home: string, directory: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : resolve(directory, path);
}

/** The flags of `ship/main.ts`. */
export function shipFlags(plan: ShipPlan, port: number, bridgeUrl: string | null): string[] {
  return [
    `--grid-directory=${plan.gridDirectory}`,
    `--port=${port}`,
    `--name=${plan.name}`,
    `--hostname=${plan.hostname}`,
    `--state-dir=${plan.stateDir}`,
    "--log-format=json",
    ...(bridgeUrl === null ? [] : [`--bridge-url=${bridgeUrl}`]),
    ...(plan.sessionCommand === null ? [] : [`--session-command=${plan.sessionCommand}`]),
  ];
}

/** The flags of `bridge/main.ts`. */
export function bridgeFlags(plan: BridgePlan, port: number, launchFile: string): string[] {
  return [
    `--port=${port}`,
    `--hostname=${plan.hostname}`,
    `--data-dir=${plan.dataDir}`,
    `--sweep-interval-ms=${plan.sweepIntervalMs}`,
    `--launch-file=${launchFile}`,
    ...(plan.insecureNoAuth ? ["--insecure-no-auth"] : []),
    "--log-format=json",
    ...(plan.publicUrl === null ? [] : [`--public-url=${plan.publicUrl}`]),
  ];
}

/** An address to call a daemon at that listens on `hostname`: a wildcard is reached over loopback. */
export function callableHost(hostname: string): string {
  if (hostname === "0.0.0.0") return loopback;
  if (hostname === "::" || hostname === "[::]") return "[::1]";
  return hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
}
