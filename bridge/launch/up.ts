/** `grid up`: a bridge and local ships, until Ctrl-C. */
import { dirname, resolve } from "node:path";
import { readIfPresent } from "../../shared/host/files.ts";
import type { Context } from "../cli/context.ts";
import { CliFailure } from "../cli/failure.ts";
import type { LaunchHandlers } from "../cli/run.ts";
import { parseGridConfig } from "./config.ts";
import type { DaemonCommand } from "./daemon_command.ts";
import { type RunningGrid, startGrid } from "./running_grid.ts";
import { type Notice, noticeText } from "./notice.ts";
import { type HostFacts, type LaunchPlan, makePlan } from "./plan.ts";
import { preflight } from "./preflight.ts";

/** What the launcher needs of the process; made once by the entry. */
export interface LaunchOptions {
  readonly host: HostFacts;
  readonly searchPath: string;
  /** The whole environment of the daemons. */
  readonly environment: Readonly<Record<string, string>>;
  readonly daemonCommand: DaemonCommand;
}

/** The handler of `grid up`. */
export function upCommand(options: LaunchOptions): LaunchHandlers["up"] {
  return async (values, context) => {
    const plan = await readPlan(values, options.host);
    const programs = await requirePrograms(options.searchPath);
    const notice = noticePrinter(context, values.verbose);
    try {
      await using grid = await startGrid({
        plan,
        programs,
        notice,
        daemonCommand: options.daemonCommand,
        environment: options.environment,
        stop: context.io.stop,
      });
      if (!context.json) context.io.out(welcome(grid, plan, context));
      await untilAborted(context.io.stop);
      if (!context.json) context.io.out("stopping; sessions go on, and are found again\n");
    } catch (thrown) {
      // Ctrl-C while starting: everything has been stopped, which is what was asked for.
      if (context.io.stop.aborted) return 0;
      throw thrown;
    }
    return 0;
  };
}

type UpValues = Parameters<LaunchHandlers["up"]>[0];

async function readPlan(values: UpValues, host: HostFacts): Promise<LaunchPlan> {
  const flags = {
    port: values.port,
    shipPort: values["ship-port"],
    gridDirectory: values["grid-directory"],
  };
  if (values.config === undefined) {
    return makePlan({}, flags, { ...host, directory: host.workingDirectory });
  }
  const file = resolve(host.workingDirectory, values.config);
  const text = await readIfPresent(file);
  if (text === null) {
    throw new CliFailure(
      `there is no ${file}: write one such as {"ships": [{"name": "aurora"}]}, or leave --config out`,
    );
  }
  return makePlan(parseGridConfig(text, values.config), flags, {
    ...host,
    directory: dirname(file),
  });
}

/** The programs that the daemons run. Throws one sentence for each that is missing or too old. */
export async function requirePrograms(
  searchPath: string,
): Promise<Readonly<Record<string, string>>> {
  const { programs, problems } = await preflight(searchPath);
  if (problems.length > 0) throw new CliFailure(problems.join("\n"));
  return programs;
}

/** Prints notices: for people on standard error, as NDJSON on standard output with --json. */
export function noticePrinter(context: Context, verbose: boolean): (notice: Notice) => void {
  return (notice) => {
    if (notice.kind === "log" && notice.level === "info" && !verbose) return;
    if (context.json) context.io.out(`${JSON.stringify(notice)}\n`);
    else context.io.err(`${noticeText(notice, context.paint)}\n`);
  };
}

function welcome(grid: RunningGrid, plan: LaunchPlan, { paint }: Context): string {
  const banner = paint(
    "yellow",
    `INSECURE: no sign-in. Whoever reaches ${grid.bridgeUrl} can do everything, commands included.`,
  );
  const directories = plan.ships.map(({ name, gridDirectory }) =>
    `ship ${name} keeps its workspaces in ${gridDirectory}\n`
  ).join("");
  return `\n${banner}\n\n${directories}the bridge keeps its data in ${plan.bridge.dataDir}\n
In another terminal:
  grid repo add <name> <url>     register a repo
  grid new <repo> <workspace>    clone it into a workspace
  grid status                    look around
Ctrl-C stops everything.
`;
}

/** Waits until `signal` aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
