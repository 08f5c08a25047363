/**
 * The entry of `grid`: reads the process once, puts the parts together, and ends with the exit code. The
 * only file of the command line that knows the launcher.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  askLine,
  askSecret,
  consoleFacts,
  readInputLine,
  writeError,
  writeOutput,
} from "../../shared/host/console.ts";
import {
  childEnvironment,
  env,
  exit,
  ignoresHangup,
  onHangup,
  onStop,
  programArguments,
  takeSecret,
} from "../../shared/host/lifecycle.ts";
import { processTerminal } from "../../shared/host/user_terminal.ts";
import {
  hostName,
  runningProgram,
  runtimeVersion,
  workingDirectory,
} from "../../shared/host/machine.ts";
import { adminVariableNames } from "../launch/admin.ts";
import { SessionFile, sessionFilePath } from "./session_file.ts";
import { binaryCommand, type DaemonCommand, sourceCommand } from "../launch/daemon_command.ts";
import { demoCommand } from "../launch/demo.ts";
import { type LaunchOptions, upCommand } from "../launch/up.ts";
import type { CliIo, CliSettings } from "./context.ts";
import { type CliOptions, runCli } from "./run.ts";

/** The streams of this process; `stop` aborts on Ctrl-C and TERM. */
function processIo(stop: AbortSignal): CliIo {
  const { inputIsTerminal, outputIsTerminal, errorIsTerminal, columns } = consoleFacts();
  return {
    out: writeOutput,
    err: (text) => void writeError(text),
    ask: (question) => askLine(question, stop),
    askSecret: (question) => askSecret(question, stop),
    readLine: () => readInputLine(stop),
    terminal: processTerminal,
    inputIsTerminal,
    outputIsTerminal,
    errorIsTerminal,
    columns,
    stop,
  };
}

function settings(): CliSettings {
  return {
    bridgeUrl: env("GRID_BRIDGE_URL"),
    // Taken out of the environment: no child of a command has a use for them.
    token: takeSecret("GRID_TOKEN"),
    registration: {
      shipToken: takeSecret("GRID_REGISTER_SHIP_TOKEN"),
      bridgeToken: takeSecret("GRID_REGISTER_BRIDGE_TOKEN"),
    },
    sessionFile: sessionFilePath({
      configHome: env("XDG_CONFIG_HOME"),
      home: env("HOME") ?? "/",
    }),
    noColor: env("NO_COLOR") !== undefined || env("TERM") === "dumb",
  };
}

function daemonCommand(): DaemonCommand {
  const { path, standalone } = runningProgram();
  const entry = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
  return standalone
    ? binaryCommand(path)
    : sourceCommand(path, { ship: entry("ship/main.ts"), bridge: entry("bridge/main.ts") });
}

/** What the bridge alone gets: no ship has a use for the forge's token. */
const bridgeNames = ["GRID_GITHUB_TOKEN", "GRID_GITHUB_API_URL"];

function launchOptions(): LaunchOptions {
  // What a dying program says of itself is shown as text, and needs no colours of its own.
  const environment: Record<string, string> = { ...childEnvironment(), NO_COLOR: "1" };
  const shell = env("SHELL");
  if (shell !== undefined) environment["SHELL"] = shell;
  environment["DENO_DIR"] = moduleCache();
  return {
    host: {
      home: env("HOME") ?? "/",
      hostname: hostName(),
      dataHome: env("XDG_DATA_HOME"),
      stateHome: env("XDG_STATE_HOME"),
      workingDirectory: workingDirectory(),
    },
    adminVariables: taken(adminVariableNames),
    bridgeVariables: taken(bridgeNames),
    aliasHint: runningProgram().standalone
      ? null
      : `alias grid='npx -y deno@${runtimeVersion()} task -q grid'`,
    terminal: consoleFacts().inputIsTerminal
      ? {
        ask: (question) => Promise.resolve(askLine(question)),
        askSecret,
        tell: (line) => void writeError(`${line}\n`),
      }
      : null,
    sessions: new SessionFile(
      sessionFilePath({ configHome: env("XDG_CONFIG_HOME"), home: env("HOME") ?? "/" }),
    ),
    searchPath: env("PATH") ?? "/usr/local/bin:/usr/bin:/bin",
    environment,
    daemonCommand: daemonCommand(),
  };
}

/** Those of the variables that are set, taken out of this process's environment. */
function taken(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = takeSecret(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Where Deno keeps modules (its documented default on Linux): a daemon with another HOME must find it too. */
function moduleCache(): string {
  const cache = env("XDG_CACHE_HOME") ?? join(env("HOME") ?? "/", ".cache");
  return env("DENO_DIR") ?? join(cache, "deno");
}

/** Runs the command line of this process to its exit code. */
export async function main(): Promise<number> {
  const stopped = new AbortController();
  using _stop = onStop(() => stopped.abort());
  // A closed window ends what was started in it: the launcher's daemons would go on without it.
  using _hangup = ignoresHangup() ? null : onHangup(() => stopped.abort());
  const launch = launchOptions();
  const options: CliOptions = {
    io: processIo(stopped.signal),
    settings: settings(),
    launch: {
      up: upCommand(launch),
      demo: demoCommand({
        ...launch,
        run: (argv, { io, url }) =>
          runCli(argv, { ...options, io, settings: { ...options.settings, bridgeUrl: url } }),
      }),
    },
  };
  return await runCli(programArguments(), options);
}

if (import.meta.main) exit(await main());
