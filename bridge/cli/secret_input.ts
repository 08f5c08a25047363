/** Secrets from a person or a pipe: hidden prompts on a terminal, else lines of standard input. */
import { newPasswordSchema } from "../../shared/schema/auth.ts";
import type { CliIo } from "./context.ts";
import { Cancelled, CliFailure, UsageFailure } from "./failure.ts";

/** Whether a prompt in the middle of a command would be seen and answered. */
export function canAsk(io: CliIo): boolean {
  // Shell completion runs commands with the terminal as input, and their errors thrown away.
  return io.inputIsTerminal && io.errorIsTerminal;
}

export interface PasswordQuestion {
  /** Such as `Password of ada`. */
  readonly question: string;
  /** From standard input, also when that is a terminal. */
  readonly fromInput: boolean;
}

/** A password that exists. Throws `Cancelled`, or `UsageFailure` when standard input has none. */
export async function readPassword(
  io: CliIo,
  { question, fromInput }: PasswordQuestion,
): Promise<string> {
  if (!fromInput && io.inputIsTerminal) return await askHidden(io, question);
  const line = await io.readLine();
  if (line !== null && line !== "") return line;
  if (io.stop.aborted) throw new Cancelled();
  throw new UsageFailure(
    `no password: standard input ended before a line for "${question}"; ` +
      "run this on a terminal, or pipe the password in",
  );
}

/** A password to be set, asked for twice on a terminal. Throws like `readPassword`. */
export async function readNewPassword(io: CliIo, asked: PasswordQuestion): Promise<string> {
  const password = await readPassword(io, asked);
  const checked = newPasswordSchema.safeParse(password);
  if (!checked.success) {
    throw new UsageFailure(`a password ${checked.error.issues[0]?.message ?? "is invalid"}`);
  }
  if (!asked.fromInput && io.inputIsTerminal) {
    const again = await askHidden(io, `${asked.question} again`);
    if (again !== password) throw new CliFailure("the two differ: nothing was changed, try again");
  }
  return password;
}

/** Asks without showing the answer. Throws `Cancelled`. */
export async function askHidden(io: CliIo, question: string): Promise<string> {
  const answer = await io.askSecret(`${question}: `);
  if (answer === null) throw new Cancelled();
  return answer;
}
