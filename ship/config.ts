/** What a ship is told by flags and environment. The only file of the ship that reads either. */
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import {
  directoryFlag,
  type FlagSource,
  logFormatFlag,
  readFlags,
  urlFlag,
  UsageError,
} from "../shared/host/flags.ts";
import { childEnvironment, env, takeSecret } from "../shared/host/lifecycle.ts";
import { type ArmoryPlaces, armoryPlaces } from "../shared/host/ship_places.ts";
import { brokenIdentifierRule, type ShipName } from "../shared/ids.ts";
import { limits } from "../shared/limits.ts";
import type { LogFormat } from "../shared/log.ts";

export interface ShipConfig {
  readonly gridDirectory: string;
  readonly name: ShipName;
  readonly hostname: string;
  readonly port: number;
  readonly stateDirectory: string;
  readonly bridgeUrl: string | null;
  /** Where the armory is installed. */
  readonly places: ArmoryPlaces;
  /** What a new session runs; null: the user's shell. */
  readonly sessionCommand: string | null;
  readonly shell: string;
  /** Clone protocols allowed, from `https http ssh git file`. */
  readonly cloneProtocols: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly logFormat: LogFormat | null;
  /** What callers must present; null: the ship answers anyone. */
  readonly bridgeToken: string | null;
  /** What the ship presents to its bridge. */
  readonly shipToken: string | null;
  /** The environment of every child. */
  readonly environment: Readonly<Record<string, string>>;
}

export const shipFlags = {
  values: [
    "grid-directory",
    "port",
    "name",
    "hostname",
    "bridge-url",
    "state-dir",
    "skills-dir",
    "plugins-dir",
    "dotfile-root",
    "session-command",
    "clone-protocols",
    "allow-origin",
    "log-format",
  ],
  switches: [],
  environmentPrefix: "GRID_SHIP_",
} as const;

const protocols = ["https", "http", "ssh", "git", "file"] as const;

/** Reads flags, twins and secrets; takes the secrets out of the environment. Throws `UsageError`. */
export function readShipConfig(args: readonly string[]): ShipConfig {
  const flags = readFlags(shipFlags, args, env);
  const gridDirectory = flags.text("grid-directory");
  if (gridDirectory === undefined || gridDirectory.trim() === "") {
    throw new UsageError(
      "--grid-directory is missing: give the directory that holds the workspaces",
    );
  }
  const name = shipName(flags);
  return {
    gridDirectory: resolve(gridDirectory),
    name,
    hostname: flags.text("hostname") ?? "127.0.0.1",
    port: flags.integer("port", 0, 65_535) ?? limits.shipPort,
    stateDirectory: directoryFlag(flags, "state-dir", {
      xdg: env("XDG_STATE_HOME"),
      home: env("HOME"),
      fallback: ".local/state",
      tail: join("grid", name),
    }),
    bridgeUrl: urlFlag(flags, "bridge-url")?.origin ?? null,
    places: armoryPlaces({
      home: env("HOME") ?? null,
      skillsDirs: flags.list("skills-dir").map((path) => resolve(path)),
      pluginsDirs: flags.list("plugins-dir").map((path) => resolve(path)),
      dotfileRoots: flags.list("dotfile-root").map((path) => path === "" ? "" : resolve(path)),
    }),
    sessionCommand: flags.text("session-command") ?? null,
    shell: env("SHELL") ?? "/bin/sh",
    cloneProtocols: cloneProtocols(flags),
    allowedOrigins: flags.list("allow-origin"),
    logFormat: logFormatFlag(flags),
    bridgeToken: takeSecret("GRID_BRIDGE_TOKEN") ?? null,
    shipToken: takeSecret("GRID_SHIP_TOKEN") ?? null,
    environment: childEnvironment(),
  };
}

function shipName(flags: FlagSource): ShipName {
  const name = flags.text("name") ?? hostname();
  const rule = brokenIdentifierRule(name);
  if (rule !== null) throw new UsageError(`--name "${name}" is no ship name: it ${rule}`);
  return name as ShipName;
}

function cloneProtocols(flags: FlagSource): readonly string[] {
  const given = flags.list("clone-protocols").flatMap((value) => value.split(","))
    .map((value) => value.trim());
  if (given.length === 0) return protocols;
  const unknown = given.find((value) => !(protocols as readonly string[]).includes(value));
  if (unknown === undefined) return given;
  throw new UsageError(
    `--clone-protocols: "${unknown}" is not one of ${protocols.join(", ")}`,
  );
}
