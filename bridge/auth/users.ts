/** What happens to users: the rules of the decisions, and the revocations that follow. */
import type { Clock } from "../../shared/clock.ts";
import { fail } from "../../shared/errors.ts";
import { Semaphore } from "../../shared/host/semaphore.ts";
import type { CreateUser, Role, User } from "../../shared/schema/auth.ts";
import { brokenUsernameRule, parseUsername, usernameKey } from "./names.ts";
import type { PasswordHasher } from "./password.ts";
import type { LoginThrottle } from "./throttle.ts";
import { shownUser, type StoredUser, type UserRecord, type UserRecords } from "./user_records.ts";

export interface UsersOptions {
  readonly records: UserRecords;
  readonly hasher: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly clock: Clock;
  /** Called once the change that revokes a user's credentials is on disk. */
  readonly onRevoked: (userId: string) => void;
}

/** A password change; `current` is null when whoever asks need not know the old one. */
export interface PasswordChange {
  readonly password: string;
  readonly current: { readonly password: string; readonly address: string } | null;
}

/** Changes that may wait for their turn to be written. */
const changesQueueMax = 256;

export class Users {
  /** Writes one after the other: the atomic checks stand guard, and so never have to be retried. */
  readonly #writer = new Semaphore(1, changesQueueMax);

  constructor(private readonly options: UsersOptions) {}

  async list(): Promise<User[]> {
    return (await this.options.records.list()).map(shownUser);
  }

  /** Whether anybody can administer; a bridge that serves has at least one admin. */
  async hasAdmin(): Promise<boolean> {
    return await this.options.records.adminCount() > 0;
  }

  /** Throws `invalidUsername`, `userExists`, `emailInUse`. Email and password are parsed already. */
  /** The admin who has been one the longest in the order of creation, or null. */
  async firstAdmin(): Promise<UserRecord | null> {
    const admins = (await this.options.records.list()).filter(({ role }) => role === "admin");
    return admins.sort((a, b) => a.createdAt < b.createdAt ? -1 : 1)[0] ?? null;
  }

  async create({ username, email, password, role }: CreateUser): Promise<UserRecord> {
    parseUsername(username);
    const passwordHash = await this.options.hasher.turn((turn) => turn.hash(password));
    const record: UserRecord = {
      id: crypto.randomUUID(),
      username,
      email,
      role,
      createdAt: this.options.clock.now().toISOString(),
      passwordHash,
      sessionEpoch: 0,
    };
    await this.#exclusively(() => this.options.records.create(record));
    return record;
  }

  /** Throws `userNotFound`, `lastAdmin`. */
  async remove(username: string): Promise<void> {
    const { record } = await this.#exclusively(async () => {
      const user = await this.#find(username);
      await this.options.records.remove(user);
      return user;
    });
    this.options.onRevoked(record.id);
  }

  /** Throws `userNotFound`, `lastAdmin`. A role that the user has already changes nothing. */
  async setRole(username: string, role: Role): Promise<User> {
    const { before, after } = await this.#exclusively(async () => {
      const user = await this.#find(username);
      const after = user.record.role === role
        ? user.record
        : await this.options.records.update(user, { role });
      return { before: user.record, after };
    });
    if (before.role !== role) this.options.onRevoked(after.id);
    return shownUser(after);
  }

  /** Throws `userNotFound`, `emailInUse`. */
  async setEmail(username: string, email: string): Promise<User> {
    return shownUser(
      await this.#exclusively(async () =>
        await this.options.records.update(await this.#find(username), { email })
      ),
    );
  }

  /**
   * Revokes all of the user's sessions with the same write. Throws `userNotFound`,
   * `wrongCurrentPassword` (which counts as a failed login), `tooManyFailedLogins`, `tooBusy`,
   * `userChangedMeanwhile` when the password was changed by somebody else while this ran.
   */
  async setPassword(username: string, change: PasswordChange): Promise<User> {
    const { record } = await this.#find(username);
    const passwordHash = await this.#newHash(record, change);
    const after = await this.#exclusively(async () => {
      const user = await this.#find(username);
      if (user.record.id !== record.id || user.record.sessionEpoch !== record.sessionEpoch) {
        throw fail("userChangedMeanwhile", { username: record.username });
      }
      const sessionEpoch = record.sessionEpoch + 1;
      return await this.options.records.update(user, { passwordHash, sessionEpoch });
    });
    this.options.onRevoked(after.id);
    return shownUser(after);
  }

  /** Stores the same password under the current cost, unless it has been changed meanwhile. */
  async rehash(record: UserRecord, passwordHash: string): Promise<void> {
    await this.#exclusively(async () => {
      const user = await this.options.records.byId(record.id);
      if (user?.record.passwordHash !== record.passwordHash) return;
      await this.options.records.update(user, { passwordHash });
    });
  }

  async #newHash(record: UserRecord, { password, current }: PasswordChange): Promise<string> {
    const { hasher, throttle } = this.options;
    if (current === null) return await hasher.turn((turn) => turn.hash(password));
    const guesser = { usernameKey: usernameKey(record.username), address: current.address };
    throttle.check(guesser);
    return await hasher.turn(async (turn) => {
      using attempt = throttle.begin(guesser);
      const { fits } = await turn.verify(current.password, record.passwordHash);
      if (!fits) {
        attempt.failed();
        throw fail("wrongCurrentPassword");
      }
      return await turn.hash(password);
    });
  }

  async #find(username: string): Promise<StoredUser> {
    // What cannot be a username is nobody's; a database key must not be of any length, either.
    const user = brokenUsernameRule(username) === null
      ? await this.options.records.byUsername(username)
      : null;
    if (user === null) throw fail("userNotFound", { username });
    return user;
  }

  async #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    using permit = await this.#writer.acquire();
    if (permit === null) throw fail("tooBusy", { what: "changes to users" });
    return await work();
  }
}
