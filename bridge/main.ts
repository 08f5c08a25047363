/** The bridge's entry: flags and environment in, a running bridge out. */
import { printErrorLine, programArguments } from "../shared/host/lifecycle.ts";
import { requirePrograms } from "../shared/host/programs.ts";
import { runDaemon } from "../shared/host/run_daemon.ts";
import { askLine, askSecret, consoleFacts } from "../shared/host/console.ts";
import type { AdminTerminal } from "./auth/first_admin.ts";
import { NoAdminError } from "./auth/launched.ts";
import { noAdminExitCode } from "./launch/exchange.ts";
import { startBridge } from "./bridge.ts";
import { readBridgeConfig } from "./config.ts";

/** The person at standard input, when there is one. Questions go to standard error: output is for programs. */
function adminTerminal(): AdminTerminal | null {
  if (!consoleFacts().inputIsTerminal) return null;
  return {
    ask: (question) => Promise.resolve(askLine(question)),
    askSecret,
    tell: printErrorLine,
  };
}

/** Runs the bridge with these flags to its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  return await runDaemon({
    name: "bridge",
    exitCodeOf: (thrown) => thrown instanceof NoAdminError ? noAdminExitCode : 1,
    readConfig: () => readBridgeConfig(args),
    start: async (config, log) => {
      const path = config.environment["PATH"] ?? "";
      return await startBridge(config, {
        programs: await requirePrograms(["git", "timeout"], path),
        openKv: (file) => Deno.openKv(file),
        log,
        tell: printErrorLine,
        terminal: adminTerminal(),
      });
    },
  });
}

if (import.meta.main) Deno.exitCode = await main(programArguments());
