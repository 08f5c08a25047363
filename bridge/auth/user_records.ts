/** Users as they are stored, and the atomic writes that keep names, emails and admins consistent. */
import { z } from "zod";
import { fail } from "../../shared/errors.ts";
import { type Role, roleSchema, type User } from "../../shared/schema/auth.ts";
import { emailKey, usernameKey } from "./names.ts";
import type { AuthStore } from "./store.ts";

const userRecordSchema = z.object({
  /** Never used again: a user of the same name created later is somebody else. */
  id: z.string(),
  username: z.string(),
  email: z.string(),
  role: roleSchema,
  createdAt: z.string(),
  /** A PHC string. */
  passwordHash: z.string(),
  /** A session is valid while its epoch is this one: raising it revokes them all in one write. */
  sessionEpoch: z.int(),
});
export type UserRecord = z.infer<typeof userRecordSchema>;

/** A record as it was read: a write that starts from it fails when it has changed since. */
export interface StoredUser {
  readonly record: UserRecord;
  readonly versionstamp: string;
}

const userKey = (id: string) => ["user", id];
const byUsername = (username: string) => ["username", usernameKey(username)];
const byEmail = (email: string) => ["email", emailKey(email)];
const adminsKey = ["admins"];

/** The user as the interface shows it. */
export function shownUser({ username, email, role, createdAt }: UserRecord): User {
  return { username, email, role, createdAt };
}

/** Reads and atomic writes; who may do what is decided elsewhere. One writer at a time, see `users.ts`. */
export class UserRecords {
  constructor(private readonly store: AuthStore) {}

  async byId(id: string): Promise<StoredUser | null> {
    const entry = await this.store.kv.get(userKey(id));
    if (entry.versionstamp === null) return null;
    return { record: userRecordSchema.parse(entry.value), versionstamp: entry.versionstamp };
  }

  /** Reads twice whether or not there is such a user, so that both take the same time. */
  async byUsername(username: string): Promise<StoredUser | null> {
    const id = await this.store.kv.get<string>(byUsername(username));
    return await this.byId(id.value ?? "");
  }

  /** In the order of their usernames. */
  async list(): Promise<UserRecord[]> {
    const users: UserRecord[] = [];
    for await (const entry of this.store.kv.list({ prefix: ["user"] })) {
      users.push(userRecordSchema.parse(entry.value));
    }
    return users.sort((a, b) => usernameKey(a.username) < usernameKey(b.username) ? -1 : 1);
  }

  async adminCount(): Promise<number> {
    return (await this.store.kv.get<number>(adminsKey)).value ?? 0;
  }

  /** Throws `userExists` or `emailInUse`. */
  async create(record: UserRecord): Promise<void> {
    const kv = this.store.kv;
    const [username, email, admins] = await kv.getMany<[string, string, number]>([
      byUsername(record.username),
      byEmail(record.email),
      adminsKey,
    ]);
    if (username.versionstamp !== null) throw fail("userExists", { username: record.username });
    if (email.versionstamp !== null) throw fail("emailInUse");
    const operation = kv.atomic().check(username, email)
      .set(userKey(record.id), record)
      .set(username.key, record.id)
      .set(email.key, record.id);
    if (record.role === "admin") operation.check(admins).set(adminsKey, (admins.value ?? 0) + 1);
    await this.#commit(operation, record);
  }

  /** Writes `changes` to a user who is still as `user` says. Throws `emailInUse`, `lastAdmin`, `userChangedMeanwhile`. */
  async update(
    user: StoredUser,
    changes: Partial<Pick<UserRecord, "email" | "role" | "passwordHash" | "sessionEpoch">>,
  ): Promise<UserRecord> {
    const before = user.record;
    const after = { ...before, ...changes };
    const operation = this.#unchanged(user).set(userKey(before.id), after);
    if (emailKey(after.email) !== emailKey(before.email)) {
      const taken = await this.store.kv.get(byEmail(after.email));
      if (taken.versionstamp !== null) throw fail("emailInUse");
      operation.check(taken).set(taken.key, before.id).delete(byEmail(before.email));
    }
    await this.#countAdmins(operation, roleStep(before.role, after.role));
    await this.#commit(operation, before);
    return after;
  }

  /** Throws `lastAdmin` or `userChangedMeanwhile`. */
  async remove(user: StoredUser): Promise<void> {
    const { record } = user;
    const operation = this.#unchanged(user)
      .delete(userKey(record.id))
      .delete(byUsername(record.username))
      .delete(byEmail(record.email));
    await this.#countAdmins(operation, record.role === "admin" ? -1 : 0);
    await this.#commit(operation, record);
  }

  #unchanged({ record, versionstamp }: StoredUser): Deno.AtomicOperation {
    return this.store.kv.atomic().check({ key: userKey(record.id), versionstamp });
  }

  async #countAdmins(operation: Deno.AtomicOperation, step: -1 | 0 | 1): Promise<void> {
    if (step === 0) return;
    const admins = await this.store.kv.get<number>(adminsKey);
    const count = (admins.value ?? 0) + step;
    if (count < 1) throw fail("lastAdmin");
    operation.check(admins).set(adminsKey, count);
  }

  async #commit(operation: Deno.AtomicOperation, { username }: UserRecord): Promise<void> {
    if (!await this.store.commit(operation)) throw fail("userChangedMeanwhile", { username });
  }
}

function roleStep(before: Role, after: Role): -1 | 0 | 1 {
  if (before === after) return 0;
  return after === "admin" ? 1 : -1;
}
