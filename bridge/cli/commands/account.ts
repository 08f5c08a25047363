/** `grid login`, `grid logout`, `grid whoami` */
import { CallError } from "../../../shared/http/client.ts";
import { displayText } from "../../../shared/ids.ts";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import { type Context, print } from "../context.ts";
import { bearer, secretOf } from "../credentials.ts";
import { Cancelled, UsageFailure } from "../failure.ts";
import { facts } from "../output.ts";
import { readPassword } from "../secret_input.ts";
import { signIn } from "../sign_in.ts";

type Values<Name extends keyof typeof commandTable> = ValuesOf<(typeof commandTable)[Name]>;

export async function login(values: Values<"login">, context: Context): Promise<void> {
  const { io, client, credentials, url } = context;
  // Before anything is typed: is there a bridge, and does it ask?
  const { authRequired } = await client.call("authMode", {});
  if (!authRequired) {
    print(
      context,
      { url, authRequired },
      `${url} asks for no sign-in: every command works as is\n`,
    );
    return;
  }
  // A file that cannot be kept is better found before a session exists.
  const before = await credentials.stored();
  if (isExposed(url)) {
    io.err(`warning: ${url} is not encrypted; whoever sees the traffic sees the password\n`);
  }
  const username = values.username ?? await askUsername(context);
  const password = await readPassword(io, {
    question: `Password of ${displayText(username)}`,
    fromInput: values["password-stdin"],
  });
  const { session, user } = await signIn(client, { username, password });
  await credentials.keep(session);
  if (before !== null) await revoke(context, before.token);
  const { expiresAt } = session;
  print(
    context,
    { url, username: user.username, role: user.role, expiresAt },
    `signed in as ${displayText(user.username)} (${user.role}) at ${url} until ${day(expiresAt)}\n`,
  );
  if ((await credentials.current()).kind === "token") {
    io.err("note: GRID_TOKEN is set, and wins over this sign-in until it is unset\n");
  }
}

/** Plain HTTP to somewhere else than this host. */
function isExposed(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

async function askUsername({ io }: Context): Promise<string> {
  if (!io.inputIsTerminal) {
    throw new UsageFailure("there is no terminal to ask for a username: add --username");
  }
  const answer = await io.ask("Username: ");
  if (answer === null) throw new Cancelled();
  if (answer.trim() === "") throw new UsageFailure("no username was given");
  return answer.trim();
}

/** Ends the session that commands use: at the bridge, and in the file if it came from there. */
export async function logout(_: Values<"logout">, context: Context): Promise<void> {
  const { io, credentials, url } = context;
  const used = await credentials.current();
  const token = secretOf(used);
  if (token === null) {
    print(context, { url, signedOut: false }, `not signed in at ${url}\n`);
    return;
  }
  const problem = await revoke(context, token);
  if (used.kind === "session") await credentials.discard(token);
  if (problem !== null) {
    const until = used.kind === "session" ? ` until ${day(used.session.expiresAt)}` : "";
    io.err(
      `warning: the bridge was not told (${problem}): there the session goes on${until}; ` +
        "changing the password ends all of its user's sessions\n",
    );
  }
  print(
    context,
    { url, signedOut: true, revoked: problem === null },
    used.kind === "token" && problem === null
      ? `the session of GRID_TOKEN is revoked at ${url}: unset it\n`
      : used.kind === "token"
      ? "GRID_TOKEN is set: unset it\n"
      : `signed out at ${url}\n`,
  );
}

/** Revokes a session at the bridge; gives why that failed, or null. */
export async function revoke({ client }: Context, token: string): Promise<string | null> {
  try {
    await client.call("logout", {}, { headers: bearer({ kind: "token", token }) });
    return null;
  } catch (thrown) {
    if (thrown instanceof CallError) return thrown.message;
    throw thrown;
  }
}

export async function whoami(_: Values<"whoami">, context: Context): Promise<void> {
  const me = await context.client.call("me", {});
  const used = await context.credentials.current();
  const by = used.kind === "session"
    ? `a session until ${day(used.session.expiresAt)}`
    : used.kind === "token"
    ? "GRID_TOKEN"
    : "nothing: this bridge asks for no sign-in";
  print(
    context,
    me,
    facts([
      ["user", me.username],
      ["role", me.role],
      ["email", me.email === "" ? "-" : me.email],
      ["bridge", context.url],
      ["by", by],
    ], context.paint),
  );
}

const day = (at: string) => at.slice(0, 10);
