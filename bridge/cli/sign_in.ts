/** Signing in: a username and a password for a session. */
import type { BridgeApi } from "../../shared/api/bridge_api.ts";
import { CallError, type Client } from "../../shared/http/client.ts";
import { displayText } from "../../shared/ids.ts";
import type { User } from "../../shared/schema/auth.ts";
import type { CliIo } from "./context.ts";
import { CliFailure } from "./failure.ts";
import { askHidden, canAsk } from "./secret_input.ts";
import type { StoredSession } from "./session_file.ts";

export interface SignedIn {
  readonly session: StoredSession;
  readonly user: User;
}

/** Signs in at the bridge; stores nothing. Throws `CliFailure` when the two are wrong, else `CallError`. */
export async function signIn(
  client: Client<BridgeApi>,
  account: { readonly username: string; readonly password: string },
): Promise<SignedIn> {
  try {
    const { token, expiresAt, user } = await client.call("login", { body: account });
    return { session: { token, expiresAt, username: user.username }, user };
  } catch (thrown) {
    if (!(thrown instanceof CallError) || thrown.status !== 401) throw thrown;
    throw new CliFailure(
      `${thrown.message}: ${client.baseUrl} knows no ${displayText(account.username)} with this ` +
        "password; try `grid login` again, an admin can set a new one with `grid user passwd`",
    );
  }
}

/** Asks for the password of a session that has ended; null when there is no terminal to ask on. */
export async function signInAgain(
  ended: StoredSession,
  { io, client }: { readonly io: CliIo; readonly client: Client<BridgeApi> },
): Promise<StoredSession | null> {
  if (!canAsk(io)) return null;
  const { username } = ended;
  io.err(`the session of ${displayText(username)} at ${client.baseUrl} has ended: sign in again\n`);
  const password = await askHidden(io, `Password of ${displayText(username)}`);
  return (await signIn(client, { username, password })).session;
}
