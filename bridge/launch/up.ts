/** `grid up`: a bridge and local ships, until Ctrl-C. */
import { dirname, resolve } from "node:path";
import { readIfPresent } from "../../shared/host/files.ts";
import type { Context } from "../cli/context.ts";
import { CliFailure } from "../cli/failure.ts";
import type { LaunchHandlers } from "../cli/run.ts";
import { parseGridConfig } from "./config.ts";
import type { SessionFile } from "../cli/session_file.ts";
import type { AdminTerminal } from "../auth/first_admin.ts";
import {
  type AdminEnvironment,
  adminEnvironment,
  askFirstAdmin,
  writeFirstAdmin,
} from "./admin.ts";
import type { DaemonCommand } from "./daemon_command.ts";
import { noAdminExitCode } from "./exchange.ts";
import { type GridOptions, type RunningGrid, startGrid } from "./running_grid.ts";
import { StartFailure } from "./supervisor.ts";
import { type Notice, noticeText } from "./notice.ts";
import { callableHost, type HostFacts, type LaunchPlan, makePlan } from "./plan.ts";
import { preflight } from "./preflight.ts";

/** What the launcher needs of the process; made once by the entry. */
export interface LaunchOptions {
  readonly host: HostFacts;
  readonly searchPath: string;
  /** The whole environment of the daemons. */
  readonly environment: Readonly<Record<string, string>>;
  readonly daemonCommand: DaemonCommand;
  /** Those of the first admin's three variables that are set. */
  readonly adminVariables: Readonly<Record<string, string>>;
  /** What else the bridge's environment has, and no ship's. */
  readonly bridgeVariables: Readonly<Record<string, string>>;
  /** Who may be asked for the first admin; null: nobody is there. */
  readonly terminal: AdminTerminal | null;
  /** How a newcomer gets the command `grid`; null where it is a program of its own. */
  readonly aliasHint: string | null;
  /** Where the command line keeps its sessions. */
  readonly sessions: SessionFile;
}

/** The handler of `grid up`. */
export function upCommand(options: LaunchOptions): LaunchHandlers["up"] {
  return async (values, context) => {
    const plan = await readPlan(values, options.host);
    const programs = await requirePrograms(options.searchPath);
    const notice = noticePrinter(context, values.verbose);
    try {
      const sessionUrl = plannedUrl(plan);
      const session = (await options.sessions.read(sessionUrl))?.token ?? null;
      const start = (admin: AdminEnvironment) =>
        startWithAdmin(admin, {
          plan,
          programs,
          notice,
          daemonCommand: options.daemonCommand,
          environment: options.environment,
          stop: context.io.stop,
          session,
          bridgeVariables: options.bridgeVariables,
        });
      const { terminal } = options;
      const admin = adminEnvironment(options.adminVariables, { interactive: terminal !== null });
      await using grid = await start(admin).catch(async (thrown: unknown) => {
        if (terminal === null || !isMissingAdmin(thrown)) throw thrown;
        return await start(await askFirstAdmin(terminal));
      });
      if (grid.session !== null) await options.sessions.write(grid.bridgeUrl, grid.session);
      if (!context.json) {
        context.io.out(welcome(grid, plan, { ...context, aliasHint: options.aliasHint }));
      }
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

interface SignedInGrid extends RunningGrid {
  /** Where a made-up password was written; null when none was needed. */
  readonly firstAdminFile: string | null;
}

async function startWithAdmin(
  { variables, madeUp }: AdminEnvironment,
  options: Omit<GridOptions, "adminVariables">,
): Promise<SignedInGrid> {
  const grid = await startGrid({ ...options, adminVariables: variables });
  const firstAdminFile = madeUp !== null && grid.firstAdminCreated
    ? await writeFirstAdmin(options.plan.bridge.dataDir, madeUp)
    : null;
  return { ...grid, firstAdminFile };
}

const isMissingAdmin = (thrown: unknown) =>
  thrown instanceof StartFailure && thrown.daemonExitCode === noAdminExitCode;

/** The bridge's URL as it will be; with port 0 there is no earlier session to find. */
const plannedUrl = ({ bridge }: LaunchPlan) =>
  `http://${callableHost(bridge.hostname)}:${bridge.port}`;

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

function welcome(
  grid: SignedInGrid,
  plan: LaunchPlan,
  { paint, aliasHint }: Pick<Context, "paint"> & Pick<LaunchOptions, "aliasHint">,
): string {
  const alias = aliasHint === null ? "" : `  ${aliasHint}\n`;
  const directories = plan.ships.map(({ name, gridDirectory }) =>
    `ship ${name} keeps its workspaces in ${gridDirectory}\n`
  ).join("");
  return `\n${
    access(grid, plan, paint)
  }\n\n${directories}the bridge keeps its data in ${plan.bridge.dataDir}\n
In another terminal:
${alias}  grid repo add <name> <url>     register a repo
  grid new <repo> <workspace>    clone it into a workspace
  grid status                    look around
Ctrl-C stops everything.
`;
}

/** Who may do what here, in a line or two. */
function access(grid: SignedInGrid, { bridge }: LaunchPlan, paint: Context["paint"]): string {
  if (bridge.insecureNoAuth) {
    return paint(
      "yellow",
      `INSECURE: no sign-in. Whoever reaches ${grid.bridgeUrl} can do everything, commands included.`,
    );
  }
  const signedIn = grid.session === null
    ? "sign in with `grid login`"
    : `\`grid\` here is signed in as ${grid.session.username}`;
  if (grid.firstAdminFile === null) return signedIn;
  return `made the first admin, admin; the password is in ${grid.firstAdminFile}\n${signedIn}`;
}

/** Waits until `signal` aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
