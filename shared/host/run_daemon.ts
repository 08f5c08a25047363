/** What the two daemons share of being a process: log, first line, signals, exit code. */
import { messageOf } from "../errors.ts";
import { createLog, type Log, type LogFormat } from "../log.ts";
import { UsageError } from "./flags.ts";
import {
  exit,
  onStop,
  printErrorLine,
  printLine,
  shutDebugger,
  stderrIsTerminal,
} from "./lifecycle.ts";
import { limits } from "../limits.ts";

/** A daemon that serves at `url` until it is disposed. */
export interface RunningDaemon extends AsyncDisposable {
  readonly url: string;
}

export interface DaemonMain<Config extends { readonly logFormat: LogFormat | null }> {
  readonly name: "ship" | "bridge";
  readonly readConfig: () => Config;
  readonly start: (config: Config, log: Log) => Promise<RunningDaemon>;
  /** The exit code for a failed start (default 1). */
  readonly exitCodeOf?: (thrown: unknown) => number;
}

/**
 * Runs until SIGINT or SIGTERM, then shuts down within `limits.shutdownMs`. Gives the exit code: 0 after a
 * signal, 2 for wrong flags, 1 when the start failed; the sentence that says why is on standard error.
 */
export async function runDaemon<Config extends { readonly logFormat: LogFormat | null }>(
  main: DaemonMain<Config>,
): Promise<number> {
  let config: Config;
  try {
    config = main.readConfig();
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    printErrorLine(`${main.name}: ${thrown.message}`);
    return 2;
  }
  const format = config.logFormat ?? (stderrIsTerminal() ? "human" : "json");
  const log = createLog(format, printErrorLine);
  const stopped = Promise.withResolvers<string>();
  using _signals = onStop(stopped.resolve);
  using _debugger = shutDebugger();
  let daemon: RunningDaemon;
  try {
    daemon = await main.start(config, log);
  } catch (thrown) {
    printErrorLine(`${main.name}: could not start: ${messageOf(thrown)}`);
    return main.exitCodeOf?.(thrown) ?? 1;
  }
  printLine(`listening on ${daemon.url}`);
  const signal = await stopped.promise;
  log.info(`${main.name} stops`, { signal });
  // Whatever hangs, the process is gone when it was said to be.
  const watchdog = setTimeout(() => exit(0), limits.shutdownMs);
  await daemon[Symbol.asyncDispose]();
  clearTimeout(watchdog);
  return 0;
}
