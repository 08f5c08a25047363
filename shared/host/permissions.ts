/**
 * The permission flags of the daemons, as one pure table: the launcher, the systemd units and the tasks
 * start them with the same line. FFI is never given; a missing permission fails, it does not prompt.
 */
import { childEnvironmentNames } from "./lifecycle.ts";

export type DaemonKind = "ship" | "bridge";

/** What differs from one start to the next; everything else stands in the table. */
export interface DaemonScope {
  /** Absolute paths that it may read, everything below them too. */
  readonly read: readonly string[];
  /** Absolute paths that it may change; each may be read as well. */
  readonly write: readonly string[];
  /** Absolute paths of the programs that it may run. */
  readonly run: readonly string[];
  /**
   * Hosts (`127.0.0.1`) or hosts with ports (`127.0.0.1:4700`) for listening and calling, or `any`:
   * a bridge calls whatever ships and forges are registered with it.
   */
  readonly net: readonly string[] | "any";
}

/** npm `ws` asks for these two while it loads. */
const wsNames = ["WS_NO_BUFFER_UTIL", "WS_NO_UTF_8_VALIDATE"];

const environmentNames: Readonly<Record<DaemonKind, readonly string[]>> = {
  ship: [
    "GRID_BRIDGE_TOKEN",
    "GRID_SHIP_TOKEN",
    "GRID_SHIP_GRID_DIRECTORY",
    "GRID_SHIP_PORT",
    "GRID_SHIP_NAME",
    "GRID_SHIP_HOSTNAME",
    "GRID_SHIP_BRIDGE_URL",
    "GRID_SHIP_STATE_DIR",
    "GRID_SHIP_SESSION_COMMAND",
    "GRID_SHIP_LOG_FORMAT",
    "GRID_SHIP_CLONE_PROTOCOLS",
    "GRID_SHIP_SKILLS_DIR",
    "GRID_SHIP_PLUGINS_DIR",
    "GRID_SHIP_DOTFILE_ROOT",
    "GRID_SHIP_ALLOW_ORIGIN",
    "SHELL",
  ],
  bridge: [
    "GRID_BRIDGE_ADMIN_USER",
    "GRID_BRIDGE_ADMIN_EMAIL",
    "GRID_BRIDGE_ADMIN_PASSWORD",
    "GRID_BRIDGE_PORT",
    "GRID_BRIDGE_HOSTNAME",
    "GRID_BRIDGE_PUBLIC_URL",
    "GRID_BRIDGE_DATA_DIR",
    "GRID_BRIDGE_SWEEP_INTERVAL_MS",
    "GRID_BRIDGE_LOG_FORMAT",
    "GRID_BRIDGE_ALLOW_ORIGIN",
    "GRID_BRIDGE_ALLOW_LINK_LOCAL",
    "GRID_BRIDGE_INSECURE_NO_AUTH",
    "GRID_BRIDGE_LAUNCH_FILE",
    "GRID_INSECURE_NO_AUTH",
    "GRID_GITHUB_TOKEN",
    "GRID_GITHUB_API_URL",
  ],
};

/** `hostname` gives a ship its default name, the others are the figures of its host. */
const systemNames: Readonly<Record<DaemonKind, readonly string[]>> = {
  ship: ["hostname", "osRelease", "osUptime", "loadavg", "cpus", "systemMemoryInfo", "uid"],
  bridge: ["hostname"],
};

/** The flags for `deno run`, before the entry file. Throws on a path that cannot stand in a list. */
export function daemonFlags(kind: DaemonKind, scope: DaemonScope): string[] {
  const environment = [...environmentNames[kind], ...wsNames, ...childEnvironmentNames];
  return [
    "--no-prompt",
    "--cached-only",
    ...allow("read", [...scope.read, ...scope.write]),
    ...allow("write", scope.write),
    ...allow("run", scope.run),
    ...allow("env", environment),
    ...allow("sys", systemNames[kind]),
    ...(scope.net === "any" ? ["--allow-net"] : allow("net", scope.net)),
  ];
}

/** No flag at all for an empty list: `--allow-x` without a value allows everything. */
function allow(what: string, values: readonly string[]): string[] {
  const unique = [...new Set(values)];
  for (const value of unique) {
    if (value === "") throw new Error(`an empty value in --allow-${what} would allow too much`);
  }
  // A comma inside a value is written twice (Deno's own escape).
  const list = unique.map((value) => value.replaceAll(",", ",,")).join(",");
  return list === "" ? [] : [`--allow-${what}=${list}`];
}
