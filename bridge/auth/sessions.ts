/** Sessions: what a login gives, for 30 days from issue and never longer. */
import { z } from "zod";
import { limits } from "../../shared/limits.ts";
import type { AuthTime } from "./auth_time.ts";
import { equalHashes, newSecret, secretHash } from "./secrets.ts";
import type { AuthStore } from "./store.ts";
import type { UserRecord, UserRecords } from "./user_records.ts";

const sessionRecordSchema = z.object({
  userId: z.string(),
  epoch: z.int(),
  expiresAtMs: z.number(),
});

/** A session that is valid now, with its user as just read. */
export interface Session {
  /** Its sha256: names it without being it. */
  readonly hash: string;
  readonly expiresAtMs: number;
  readonly user: UserRecord;
}

const sessionKey = (hash: string) => ["session", hash];
const purgeBatchMax = 500;

export class Sessions {
  constructor(
    private readonly store: AuthStore,
    private readonly users: UserRecords,
    private readonly time: AuthTime,
  ) {}

  /**
   * Issues a session to a user as read before their password was checked: when it has been changed since,
   * the epoch is an old one and the session was never valid.
   */
  async issue(user: UserRecord): Promise<{ readonly token: string; readonly expiresAt: Date }> {
    const token = newSecret();
    const expiresAtMs = this.time.nowMs() + limits.sessionLifeMs;
    await this.store.commit(
      this.store.kv.atomic().set(sessionKey(await secretHash(token)), {
        userId: user.id,
        epoch: user.sessionEpoch,
        expiresAtMs,
      }),
    );
    return { token, expiresAt: new Date(expiresAtMs) };
  }

  /** The session of a token, or null. Asked for on every request, so that nothing outlives its user. */
  async ofToken(token: string): Promise<Session | null> {
    return await this.ofHash(await secretHash(token));
  }

  /** `ofToken`, by the hash that a ticket remembers. */
  async ofHash(hash: string): Promise<Session | null> {
    const entry = await this.store.kv.get(sessionKey(hash));
    if (entry.versionstamp === null || !equalHashes(String(entry.key[1]), hash)) return null;
    const { userId, epoch, expiresAtMs } = sessionRecordSchema.parse(entry.value);
    if (this.time.nowMs() >= expiresAtMs) return null;
    const user = await this.users.byId(userId);
    if (user === null || user.record.sessionEpoch !== epoch) return null;
    return { hash, expiresAtMs, user: user.record };
  }

  async revoke(hash: string): Promise<void> {
    await this.store.commit(this.store.kv.atomic().delete(sessionKey(hash)));
  }

  /** Deletes what is valid no more; the number deleted. */
  async purge(): Promise<number> {
    const dead: string[] = [];
    for await (const { key } of this.store.kv.list({ prefix: ["session"] })) {
      const hash = String(key[1]);
      if (await this.ofHash(hash) === null) dead.push(hash);
    }
    for (let start = 0; start < dead.length; start += purgeBatchMax) {
      const operation = this.store.kv.atomic();
      for (const hash of dead.slice(start, start + purgeBatchMax)) {
        operation.delete(sessionKey(hash));
      }
      await this.store.commit(operation);
    }
    return dead.length;
  }
}
