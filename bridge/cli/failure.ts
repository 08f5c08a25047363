/** How a command fails: what happened, why, and what to do next, with its exit code. */
import { Failure, messageOf } from "../../shared/errors.ts";
import { CallError } from "../../shared/http/client.ts";

export const exitCodes = { done: 0, failed: 1, usage: 2, cancelled: 130 } as const;

/** A failure in words for people. */
export class CliFailure extends Error {
  override readonly name: string = "CliFailure";
  readonly exitCode: number = exitCodes.failed;
}

/** The command was not used as it is meant. */
export class UsageFailure extends CliFailure {
  override readonly name = "UsageFailure";
  override readonly exitCode = exitCodes.usage;
}

/** The person at the terminal changed their mind; 130 is what shells expect of Ctrl-C. */
export class Cancelled extends CliFailure {
  override readonly name = "Cancelled";
  override readonly exitCode = exitCodes.cancelled;
  constructor() {
    super("cancelled: nothing was done");
  }
}

/** The bridge that was called. */
export interface Called {
  readonly url: string;
  /** `GRID_TOKEN` was what it saw. */
  readonly tokenGiven: boolean;
}

/** What is printed of a failure; in JSON the same fields. */
export interface FailureReport {
  readonly message: string;
  /** The bridge's HTTP status, 0 when there was none. */
  readonly status: number;
  readonly reason: string | undefined;
  readonly exitCode: number;
}

/** Puts anything thrown by a command into words. */
export function reportOf(thrown: unknown, called: Called): FailureReport {
  if (thrown instanceof CliFailure) {
    return { message: thrown.message, status: 0, reason: undefined, exitCode: thrown.exitCode };
  }
  if (thrown instanceof CallError) return callReport(thrown, called);
  // A name that broke a rule before anything was sent.
  if (thrown instanceof Failure) {
    const because = thrown.reason === undefined ? "" : `: it ${thrown.reason}`;
    return {
      message: `${thrown.message}${because}`,
      status: thrown.status,
      reason: thrown.reason,
      exitCode: thrown.status === 400 ? exitCodes.usage : exitCodes.failed,
    };
  }
  return {
    message: messageOf(thrown),
    status: 0,
    reason: undefined,
    exitCode: exitCodes.failed,
  };
}

function callReport(error: CallError, called: Called): FailureReport {
  const { status, reason } = error;
  return { message: callMessage(error, called), status, reason, exitCode: exitCodes.failed };
}

function callMessage(error: CallError, called: Called): string {
  const { url } = called;
  switch (error.kind) {
    case "transport":
      return error.message === "timed out"
        ? `the bridge at ${url} did not answer in time: look at its log, or try again`
        : `no bridge at ${url} (${error.message}): start one with \`grid up\`, or give --url`;
    case "invalid":
      return `what answers at ${url} gave ${error.message}: is it a bridge, and of this version?`;
    case "status":
      return statusMessage(error, called);
  }
}

function statusMessage(
  { status, message, reason, retryAfterSeconds }: CallError,
  { url, tokenGiven }: Called,
): string {
  const because = reason === undefined ? "" : ` (it ${reason})`;
  // A forge's 401 is about the bridge's own token, not about who asks.
  if (status === 401 && !isForgeRefusal(message)) {
    return tokenGiven
      ? `the bridge at ${url} knows no session with the token in GRID_TOKEN: ` +
        "unset it and use `grid login`, or set it to a session that is valid there"
      : `the bridge at ${url} asks for a sign-in: ` +
        "`grid login` signs in, or set GRID_TOKEN to a session token";
  }
  if (status === 429 && retryAfterSeconds !== undefined) {
    return `${message}: try again in ${retryAfterSeconds} s`;
  }
  return `${message}${because}${nextStep(message)}`;
}

/** A 401 that a forge gave, or that stands for one. */
const isForgeRefusal = (message: string) => /^(no token for provider |github: )/.test(message);

/** What to do about the bridge's own messages, where there is something. */
function nextStep(message: string): string {
  const hints: ReadonlyArray<readonly [RegExp, string]> = [
    [/^workspace not found/, "`grid ls` lists the workspaces"],
    [/^(repo not found|unknown repo)/, "`grid repo ls` lists the repos, `grid repo add` adds one"],
    [/^(ship not found|unknown ship)/, "`grid ship ls` lists the ships, `grid ship add` adds one"],
    [/^workspace already exists/, "choose another name, or look at it with `grid show`"],
    [/is offline$|unreachable:/, "`grid ship ls` shows which ships are online"],
    [/^ship at .* did not respond/, "is a ship running there? `grid up` starts one"],
    [/^issue not found/, "`grid issue ls` lists the open ones"],
    [/^provider "custom" does not/, "register the repo again with --provider github"],
    [/^workspace not active/, "`grid activate` starts its session"],
    [/^user not found/, "`grid user ls` lists the users"],
    [/^this endpoint requires an admin/, "`grid whoami` shows who you are"],
    [/^workspace already active/, "its session is running already"],
  ];
  const hint = hints.find(([pattern]) => pattern.test(message));
  return hint === undefined ? "" : `; ${hint[1]}`;
}
