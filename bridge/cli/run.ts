/** One invocation of `grid`: arguments in, exit code out. */
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { limits } from "../../shared/limits.ts";
import { type GlobalValues, parseArguments, type ValuesOf } from "./arguments.ts";
import { type CommandName, commandTable } from "./command_table.ts";
import { listArmoryFiles, showArmory } from "./commands/armory.ts";
import { login, logout, whoami } from "./commands/account.ts";
import { followEvents } from "./commands/events.ts";
import { listIssues, listPulls, showChecks, showIssue, showPull, sweep } from "./commands/forge.ts";
import { showCompletion, showVersion } from "./commands/meta.ts";
import { newWorkspace } from "./commands/new.ts";
import { addRepo, listBranches, listRepos, removeRepo } from "./commands/repo.ts";
import { addShip, listShips, removeShip } from "./commands/ship.ts";
import { attachWorkspace, captureWorkspace } from "./commands/terminal.ts";
import { showStatus } from "./commands/status.ts";
import {
  addUser,
  listUsers,
  removeUser,
  setUserEmail,
  setUserPassword,
  setUserRole,
} from "./commands/user.ts";
import {
  activate,
  deactivate,
  diffWorkspace,
  listWorkspaces,
  removeWorkspace,
  showWorkspace,
  switchBranch,
} from "./commands/workspace.ts";
import type { CliIo, CliSettings, Context } from "./context.ts";
import { Credentials } from "./credentials.ts";
import { exitCodes, reportOf, UsageFailure } from "./failure.ts";
import { helpText } from "./help.ts";
import { displayLines, painter } from "./output.ts";
import { SessionClient } from "./session_client.ts";
import { SessionFile } from "./session_file.ts";
import { signInAgain } from "./sign_in.ts";

type Table = typeof commandTable;
type Handler<Name extends CommandName> = (
  values: ValuesOf<Table[Name]>,
  context: Context,
) => Promise<number | void> | number | void;
type Handlers = { readonly [Name in CommandName]: Handler<Name> };

/** The commands that run daemons: injected, so that the command line itself imports no daemon. */
export type LaunchHandlers = Pick<Handlers, "up" | "demo">;

export interface CliOptions {
  readonly io: CliIo;
  readonly settings: CliSettings;
  readonly launch: LaunchHandlers;
}

const own: Omit<Handlers, "up" | "demo"> = {
  "status": showStatus,
  "ship ls": listShips,
  "ship add": addShip,
  "ship rm": removeShip,
  "repo ls": listRepos,
  "repo add": addRepo,
  "repo rm": removeRepo,
  "repo branches": listBranches,
  "issue ls": listIssues,
  "issue show": showIssue,
  "pr ls": listPulls,
  "pr show": showPull,
  "checks": showChecks,
  "sweep": sweep,
  "new": newWorkspace,
  "ls": listWorkspaces,
  "show": showWorkspace,
  "diff": diffWorkspace,
  "activate": activate,
  "deactivate": deactivate,
  "attach": attachWorkspace,
  "capture": captureWorkspace,
  "switch": switchBranch,
  "rm": removeWorkspace,
  "armory status": showArmory,
  "armory files": listArmoryFiles,
  "events": followEvents,
  "login": login,
  "logout": logout,
  "whoami": whoami,
  "user ls": listUsers,
  "user add": addUser,
  "user rm": removeUser,
  "user role": setUserRole,
  "user passwd": setUserPassword,
  "user email": setUserEmail,
  "version": showVersion,
  "completion": showCompletion,
};

/** Runs `argv`; never rejects and never exits: the exit code is the answer. */
export async function runCli(argv: readonly string[], options: CliOptions): Promise<number> {
  const { io } = options;
  const parsed = parseArguments(commandTable, argv);
  switch (parsed.kind) {
    case "help":
      io.out(helpText(commandTable, parsed.topic));
      return exitCodes.done;
    case "usage":
      return failWith(new UsageFailure(parsed.message), "", {
        io,
        globals: parsed.globals,
        options,
      });
    case "command": {
      let url = "";
      try {
        url = bridgeUrl(parsed.globals.url, options.settings);
        const handlers: Handlers = { ...own, ...options.launch };
        // The parser made the values from this very command's row of the table.
        const handler = handlers[parsed.name as CommandName] as Handler<never>;
        const code = await handler(parsed.values as never, context(url, parsed.globals, options));
        return code ?? exitCodes.done;
      } catch (thrown) {
        return failWith(thrown, url, { io, globals: parsed.globals, options });
      }
    }
  }
}

function context(url: string, globals: GlobalValues, { io, settings }: CliOptions): Context {
  const credentials: Credentials = new Credentials({
    bridgeUrl: url,
    token: tokenOf(settings),
    file: new SessionFile(settings.sessionFile),
    signInAgain: (ended) => signInAgain(ended, { io, client }),
  });
  const client: SessionClient = new SessionClient({
    table: bridgeApi,
    baseUrl: url,
    // The bridge itself waits this long for a ship; a little more lets its answer arrive.
    timeoutMs: limits.shipCallMs + 2_000,
    replyBytesMax: limits.shipReplyBytesMax,
    // Ctrl-C ends whatever call is under way, streams included.
    fetch: (input, init) => {
      const given = init?.signal;
      const signal = given ? AbortSignal.any([given, io.stop]) : io.stop;
      return fetch(input, { ...init, signal });
    },
  }, credentials);
  const coloured = io.outputIsTerminal && !globals.noColor && !settings.noColor;
  return {
    io,
    credentials,
    registration: settings.registration,
    url,
    json: globals.json,
    paint: painter(coloured),
    columns: io.outputIsTerminal ? io.columns : Infinity,
    client,
  };
}

/** `GRID_TOKEN`, when it can stand in a header; the message does not repeat it. */
function tokenOf({ token }: CliSettings): string | undefined {
  if (token === undefined || /^[\x21-\x7e]{1,512}$/.test(token)) return token;
  throw new UsageFailure(
    "GRID_TOKEN is no token: it must be 1 to 512 printable ASCII characters without spaces",
  );
}

function bridgeUrl(flag: string | undefined, { bridgeUrl }: CliSettings): string {
  const text = flag ?? bridgeUrl ?? `http://127.0.0.1:${limits.bridgePort}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const source = flag === undefined ? "GRID_BRIDGE_URL" : "--url";
    throw new UsageFailure(
      `${source} must be a URL such as http://127.0.0.1:${limits.bridgePort}, ` +
        `not ${JSON.stringify(text)}`,
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

interface Reporting {
  readonly io: CliIo;
  readonly globals: GlobalValues;
  readonly options: CliOptions;
}

function failWith(thrown: unknown, url: string, { io, globals, options }: Reporting): number {
  // Ctrl-C is no failure that needs words; 130 is what shells expect of it.
  if (io.stop.aborted) return 130;
  const { exitCode, ...report } = reportOf(thrown, {
    url,
    tokenGiven: options.settings.token !== undefined,
  });
  if (globals.json) {
    io.err(`${JSON.stringify({ error: report })}\n`);
    return exitCode;
  }
  const coloured = io.errorIsTerminal && !globals.noColor && !options.settings.noColor;
  io.err(`${painter(coloured)("red", "grid:")} ${safe(report.message)}\n`);
  return exitCode;
}

/** A message may quote what a stranger wrote; newlines of our own lists stay. */
const safe = (message: string) => displayLines(message);
