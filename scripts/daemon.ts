/**
 * `deno task ship …` and `deno task bridge …`: starts a daemon under the permissions that its flags call for
 * (`shared/host/permissions.ts`), passes signals on, and ends with its exit code.
 */
import { readBridgeConfig } from "../bridge/config.ts";
import { UsageError } from "../shared/host/flags.ts";
import { findProgram } from "../shared/host/files.ts";
import { makeDirectory } from "../shared/host/machine.ts";
import { shipWritePaths } from "../shared/host/ship_places.ts";
import { daemonFlags, type DaemonKind, type DaemonScope } from "../shared/host/permissions.ts";
import { readShipConfig } from "../ship/config.ts";

const programs = {
  ship: ["git", "tmux", "script", "stty", "ln", "timeout"],
  bridge: ["git", "timeout"],
} as const satisfies Record<DaemonKind, readonly string[]>;

if (import.meta.main) Deno.exitCode = await main(Deno.args);

async function main([kind, ...args]: readonly string[]): Promise<number> {
  if (kind !== "ship" && kind !== "bridge") throw new Error("the first argument is ship or bridge");
  // The configuration takes the secrets out of this process; the daemon needs them as they were given.
  const environment = Deno.env.toObject();
  let flags: string[];
  try {
    flags = daemonFlags(kind, await scopeOf(kind, args));
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    console.error(`${kind}: ${thrown.message}`);
    return 2;
  }
  const entry = new URL(`../${kind}/main.ts`, import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, entry, ...args],
    env: environment,
  }).spawn();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // A terminal sends Ctrl-C to the whole group, the daemon included; asking twice does no harm.
    Deno.addSignalListener(signal, () => {
      try {
        child.kill(signal);
      } catch {
        // It has ended.
      }
    });
  }
  const { code } = await child.status;
  Deno.exit(code);
}

async function scopeOf(kind: DaemonKind, args: readonly string[]): Promise<DaemonScope> {
  const run = await found(programs[kind]);
  if (kind === "bridge") {
    const { dataDirectory } = readBridgeConfig(args);
    return { read: run, write: [await makeDirectory(dataDirectory)], run, net: "any" };
  }
  const config = readShipConfig(args);
  const write = await shipWritePaths(config, config.places);
  // Without --bridge-url the ship pulls from whichever bridge pushes first, wherever that is.
  const net = config.bridgeUrl === null
    ? "any" as const
    : [config.hostname, "127.0.0.1", "localhost", new URL(config.bridgeUrl).host];
  return { read: run, write, run, net };
}

async function found(names: readonly string[]): Promise<string[]> {
  const path = Deno.env.get("PATH") ?? "";
  const paths = await Promise.all(names.map((name) => findProgram(name, path)));
  return paths.filter((one) => one !== null);
}
