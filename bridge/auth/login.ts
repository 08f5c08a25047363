/** From a username and a password to a session, at a cost that does not tell whether the user exists. */
import { fail, Failure } from "../../shared/errors.ts";
import type { LoginReply } from "../../shared/schema/auth.ts";
import type { Audit } from "./audit.ts";
import { brokenUsernameRule, usernameKey } from "./names.ts";
import type { PasswordHasher, PasswordTurn } from "./password.ts";
import type { Sessions } from "./sessions.ts";
import type { LoginThrottle } from "./throttle.ts";
import { shownUser, type UserRecord, type UserRecords } from "./user_records.ts";
import type { Users } from "./users.ts";

export interface LoginOptions {
  readonly records: UserRecords;
  readonly users: Users;
  readonly hasher: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly sessions: Sessions;
  readonly audit: Audit;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Of the connection. */
  readonly address: string;
}

export class Login {
  constructor(private readonly options: LoginOptions) {}

  /** Throws `invalidLogin`, `tooManyFailedLogins`, `tooBusy`. */
  async login(credentials: Credentials): Promise<LoginReply> {
    const { throttle, hasher, sessions } = this.options;
    const { username, address } = credentials;
    // Names that nobody can have share one key: they must not fill the throttle's memory.
    const possible = brokenUsernameRule(username) === null;
    const guesser = { usernameKey: possible ? usernameKey(username) : "", address };
    try {
      throttle.check(guesser);
      const user = await hasher.turn(async (turn) => {
        // Checked again: the turn may have come long after the request.
        using attempt = throttle.begin(guesser);
        const user = await this.#authenticate(turn, { ...credentials, possible });
        if (user === null) {
          attempt.failed();
          throw fail("invalidLogin");
        }
        return user;
      });
      const { token, expiresAt } = await sessions.issue(user);
      this.#record(user.username, address, "ok");
      return { token, expiresAt: expiresAt.toISOString(), user: shownUser(user) };
    } catch (thrown) {
      await this.#recordFailure(possible ? username : null, address, thrown);
      throw thrown;
    }
  }

  async #authenticate(
    turn: PasswordTurn,
    { username, password, possible }: Credentials & { possible: boolean },
  ): Promise<UserRecord | null> {
    const user = await this.options.records.byUsername(possible ? username : "");
    const { fits, outdated } = await turn.verify(password, user?.record.passwordHash ?? null);
    if (user === null || !fits) return null;
    if (outdated) await this.options.users.rehash(user.record, await turn.hash(password));
    return user.record;
  }

  /** A name that no user has may be a password typed into the wrong field: it is not written down. */
  async #recordFailure(username: string | null, address: string, thrown: unknown): Promise<void> {
    const user = username === null ? null : await this.options.records.byUsername(username);
    const outcome = thrown instanceof Failure ? thrown.code : "internal";
    this.#record(user?.record.username ?? "(no such user)", address, outcome);
  }

  #record(target: string, address: string, outcome: "ok" | Failure["code"]): void {
    this.options.audit.record({ actor: "anonymous", action: "login", target, outcome, address });
  }
}
