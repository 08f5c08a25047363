/** The ship's entry: flags and environment in, a running ship out. */
import { programArguments } from "../shared/host/lifecycle.ts";
import { runDaemon } from "../shared/host/run_daemon.ts";
import { requirePrograms } from "../shared/host/programs.ts";
import { readShipConfig } from "./config.ts";
import { startShip } from "./ship.ts";

/** Runs the ship with these flags to its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  return await runDaemon({
    name: "ship",
    readConfig: () => readShipConfig(args),
    start: async (config, log) => {
      const path = config.environment["PATH"] ?? "";
      return await startShip(
        config,
        await requirePrograms(["git", "tmux", "timeout", "script", "stty", "ln"], path),
        log,
      );
    },
  });
}

if (import.meta.main) Deno.exitCode = await main(programArguments());
