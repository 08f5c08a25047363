/** The bridge's entry: flags and environment in, a running bridge out. */
import { printErrorLine, programArguments } from "../shared/host/lifecycle.ts";
import { requirePrograms } from "../shared/host/programs.ts";
import { runDaemon } from "../shared/host/run_daemon.ts";
import { startBridge } from "./bridge.ts";
import { readBridgeConfig } from "./config.ts";

/** Runs the bridge with these flags to its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  return await runDaemon({
    name: "bridge",
    readConfig: () => readBridgeConfig(args),
    start: async (config, log) => {
      const path = config.environment["PATH"] ?? "";
      return await startBridge(config, {
        programs: await requirePrograms(["git", "timeout"], path),
        openKv: (file) => Deno.openKv(file),
        log,
        tell: printErrorLine,
      });
    },
  });
}

if (import.meta.main) Deno.exitCode = await main(programArguments());
