/** What a command's handler works with; made once per invocation by `run.ts`. */
import type { BridgeApi } from "../../shared/api/bridge_api.ts";
import type { Client } from "../../shared/http/client.ts";
import type { Credentials } from "./credentials.ts";
import type { UserTerminal } from "../../shared/host/user_terminal.ts";
import type { Paint } from "./output.ts";

/** The streams and the terminal, as values: tests give their own. */
export interface CliIo {
  /** Writes to standard output; false when nobody reads it any more. */
  out(text: string): boolean;
  err(text: string): void;
  /** Asks on the terminal; null when there is no answer. */
  ask(question: string): Promise<string | null>;
  /** Asks on the terminal without showing the answer; null at Ctrl-C and when there is none. */
  askSecret(question: string): Promise<string | null>;
  /** The next line of standard input, such as a piped password; null at its end. */
  readLine(): Promise<string | null>;
  /** The terminal as a whole screen; null when there is none. */
  terminal(): UserTerminal | null;
  readonly inputIsTerminal: boolean;
  readonly outputIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
  readonly columns: number;
  /** Aborts on Ctrl-C and TERM. */
  readonly stop: AbortSignal;
}

/** What the environment sets, read once by the entry. */
export interface CliSettings {
  readonly bridgeUrl: string | undefined;
  /** `GRID_TOKEN`: wins over the stored session. */
  readonly token: string | undefined;
  /** Absolute path of the file that holds the sessions. */
  readonly sessionFile: string;
  /** `GRID_REGISTER_SHIP_TOKEN` and `GRID_REGISTER_BRIDGE_TOKEN`. */
  readonly registration: RegistrationTokens;
  readonly noColor: boolean;
}

/** What a new ship and its bridge show each other; either being set suppresses the prompts. */
export interface RegistrationTokens {
  readonly shipToken?: string | undefined;
  readonly bridgeToken?: string | undefined;
}

export interface Context {
  readonly io: CliIo;
  readonly client: Client<BridgeApi>;
  readonly credentials: Credentials;
  readonly registration: RegistrationTokens;
  /** Origin or base of the bridge, without a trailing slash. */
  readonly url: string;
  readonly json: boolean;
  /** For standard output. */
  readonly paint: Paint;
  /** Width for tables: the terminal's, or unbounded without one. */
  readonly columns: number;
}

/** Prints `value` as JSON, or `text` for people. */
export function print({ io, json }: Context, value: unknown, text: string): void {
  io.out(json ? `${JSON.stringify(value, null, 2)}\n` : text);
}
