/** `grid user …` */
import { displayText } from "../../../shared/ids.ts";
import { emailSchema, type User } from "../../../shared/schema/auth.ts";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import { type Context, print } from "../context.ts";
import { UsageFailure } from "../failure.ts";
import { table } from "../output.ts";
import { readNewPassword, readPassword } from "../secret_input.ts";
import { signIn } from "../sign_in.ts";

type Values<Name extends keyof typeof commandTable> = ValuesOf<(typeof commandTable)[Name]>;

function userTable(users: readonly User[], context: Context): string {
  return table(
    ["USER", "ROLE", "EMAIL", "SINCE"],
    users.map(({ username, role, email, createdAt }) => [
      username,
      role === "admin" ? { text: role, colour: "yellow" } : role,
      email,
      createdAt.slice(0, 10),
    ]),
    context,
  );
}

export async function listUsers(_: Values<"user ls">, context: Context): Promise<void> {
  const users = await context.client.call("listUsers", {});
  const empty = "no users: this bridge asks for no sign-in\n";
  print(context, users, users.length === 0 ? empty : userTable(users, context));
}

export async function addUser(values: Values<"user add">, context: Context): Promise<void> {
  const { username } = values;
  const email = parseEmail(values.email);
  const password = await readNewPassword(context.io, {
    question: `Password for ${displayText(username)}`,
    fromInput: values["password-stdin"],
  });
  const role = values.admin ? "admin" : "member";
  const user = await context.client.call("createUser", {
    body: { username, email, password, role },
  });
  print(context, user, userTable([user], context));
}

export async function removeUser(
  { username }: Values<"user rm">,
  context: Context,
): Promise<void> {
  const reply = await context.client.call("deleteUser", { params: { username } });
  print(
    context,
    reply,
    `${displayText(username)} is no user any more, and signed out everywhere\n`,
  );
}

export async function setUserRole(values: Values<"user role">, context: Context): Promise<void> {
  const { username } = values;
  // The parser takes no other two.
  const role = values.role === "admin" ? "admin" : "member";
  const user = await context.client.call("setUserRole", { params: { username }, body: { role } });
  print(context, user, userTable([user], context));
}

export async function setUserEmail(values: Values<"user email">, context: Context): Promise<void> {
  const { username } = values;
  const email = parseEmail(values.email);
  const user = await context.client.call("setUserEmail", {
    params: { username },
    body: { email },
  });
  print(context, user, userTable([user], context));
}

/** One's own password needs the one before, and ends the session that asks; a new one takes its place. */
export async function setUserPassword(
  values: Values<"user passwd">,
  context: Context,
): Promise<void> {
  const { client, credentials, io } = context;
  const me = await client.call("me", {});
  const username = values.username ?? me.username;
  const self = sameUser(username, me.username);
  const shown = displayText(username);
  const fromInput = values["password-stdin"];
  const current = self
    ? { currentPassword: await readPassword(io, { question: "Current password", fromInput }) }
    : {};
  const password = await readNewPassword(io, { question: `New password of ${shown}`, fromInput });
  const user = await client.call("setUserPassword", {
    params: { username },
    body: { password, ...current },
  });
  const used = await credentials.current();
  if (self && used.kind === "session") {
    await credentials.discard(used.session.token);
    await credentials.keep((await signIn(client, { username, password })).session);
  }
  print(context, user, `the password of ${shown} is changed; ${aftermath(self, used.kind)}\n`);
}

function aftermath(self: boolean, kind: "token" | "session" | "none"): string {
  if (!self) return "every session of theirs has ended";
  return kind === "session"
    ? "every other session of yours has ended"
    : "every session of yours has ended, that of GRID_TOKEN too";
}

/** The bridge's own rule for names that count as one. */
function sameUser(one: string, other: string): boolean {
  const key = (name: string) => name.normalize("NFKC").toLowerCase().normalize("NFKC");
  return key(one) === key(other);
}

function parseEmail(text: string): string {
  const parsed = emailSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues[0]?.message ?? "is invalid";
  throw new UsageFailure(`an email ${why}, not ${JSON.stringify(text)}`);
}
