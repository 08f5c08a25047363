/** Usernames and emails: what is allowed, and the forms under which two count as one. */
import { fail } from "../../shared/errors.ts";
import { brokenIdentifierRule } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";

/** The first rule that `text` breaks as a username, or null: an identifier of at most 64 bytes. */
export function brokenUsernameRule(text: string): string | null {
  if (new TextEncoder().encode(text).length > limits.usernameBytesMax) {
    return `must be at most ${limits.usernameBytesMax} UTF-8 bytes`;
  }
  return brokenIdentifierRule(text);
}

/** `text`, when it may be a username; throws `invalidUsername` with the rule as `reason` otherwise. */
export function parseUsername(text: string): string {
  const reason = brokenUsernameRule(text);
  if (reason !== null) throw fail("invalidUsername", undefined, { reason });
  return text;
}

/**
 * The form under which usernames are unique and found: NFKC (UAX #15), then lower case, then NFKC
 * again because lowering may decompose. `ﬁn`, `FIN` and `fin` are one user.
 */
export function usernameKey(username: string): string {
  return username.normalize("NFKC").toLowerCase().normalize("NFKC");
}

/** The form under which emails are unique. */
export const emailKey = usernameKey;
