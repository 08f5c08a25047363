/** How often a login may fail: per username and per address, within a sliding window. */
import type { Clock } from "../../shared/clock.ts";
import { fail } from "../../shared/errors.ts";
import { limits } from "../../shared/limits.ts";

/** Pure: how long until another attempt is allowed, 0 when it is now. `failuresMs` is oldest first. */
export function waitMs(
  failuresMs: readonly number[],
  nowMs: number,
  rule: { readonly failuresMax: number; readonly windowMs: number },
): number {
  const deciding = failuresMs[failuresMs.length - rule.failuresMax];
  return deciding === undefined ? 0 : Math.max(0, deciding + rule.windowMs - nowMs);
}

/** The address as it counts: IPv6 by its /64, which one customer owns whole; mapped IPv4 as IPv4. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1] ?? address;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").toLowerCase().split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill("0"), ...right];
  return groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, "")).join(":") + "::/64";
}

/** Keys remembered per kind; the one whose last failure is oldest goes first. */
export const throttleKeysMax = 10_000;

class FailureLog {
  readonly #failures = new Map<string, number[]>();
  readonly #pending = new Map<string, number>();
  constructor(private readonly failuresMax: number) {}

  get size(): number {
    return this.#failures.size;
  }
  /** Attempts under way count as failed until they are not, so that parallel guesses do not slip by. */
  waitMs(key: string, nowMs: number): number {
    const pending = Array<number>(this.#pending.get(key) ?? 0).fill(nowMs);
    return waitMs([...this.#failures.get(key) ?? [], ...pending], nowMs, {
      failuresMax: this.failuresMax,
      windowMs: limits.loginFailureWindowMs,
    });
  }
  begin(key: string): void {
    this.#pending.set(key, (this.#pending.get(key) ?? 0) + 1);
  }
  end(key: string): void {
    const left = (this.#pending.get(key) ?? 1) - 1;
    if (left === 0) this.#pending.delete(key);
    else this.#pending.set(key, left);
  }
  failed(key: string, nowMs: number): void {
    const failures = [...this.#failures.get(key) ?? [], nowMs].slice(-this.failuresMax);
    this.#failures.delete(key);
    this.#failures.set(key, failures);
    // The map is in the order of each key's last failure, so what has expired stands in front.
    for (const [old, times] of this.#failures) {
      const expired = (times.at(-1) ?? 0) + limits.loginFailureWindowMs <= nowMs;
      if (!expired && this.#failures.size <= throttleKeysMax) break;
      this.#failures.delete(old);
    }
  }
}

/** Who is guessing: the username as it is looked up, and the address of the connection. */
export interface Guesser {
  readonly usernameKey: string;
  readonly address: string;
}

/** One attempt under way; disposing ends it. */
export interface LoginAttempt extends Disposable {
  /** The credential was wrong. */
  failed(): void;
}

/** Failures in memory, by the monotonic clock. A success forgives nothing: the window slides by itself. */
export class LoginThrottle {
  readonly #byUsername = new FailureLog(limits.loginFailuresPerUsernameMax);
  readonly #byAddress = new FailureLog(limits.loginFailuresPerAddressMax);

  constructor(private readonly clock: Clock) {}

  /** Throws `tooManyFailedLogins` when `guesser` has to wait. */
  check(guesser: Guesser): void {
    const nowMs = this.clock.monotonicMs();
    const ms = Math.max(
      this.#byUsername.waitMs(guesser.usernameKey, nowMs),
      this.#byAddress.waitMs(addressKey(guesser.address), nowMs),
    );
    if (ms === 0) return;
    const retryAfterSeconds = Math.ceil(ms / 1000);
    throw fail("tooManyFailedLogins", { retryAfterSeconds }, { retryAfterSeconds });
  }

  /** `check`, then counts the attempt as under way. */
  begin(guesser: Guesser): LoginAttempt {
    this.check(guesser);
    const address = addressKey(guesser.address);
    this.#byUsername.begin(guesser.usernameKey);
    this.#byAddress.begin(address);
    return {
      failed: () => {
        const nowMs = this.clock.monotonicMs();
        this.#byUsername.failed(guesser.usernameKey, nowMs);
        this.#byAddress.failed(address, nowMs);
      },
      [Symbol.dispose]: () => {
        this.#byUsername.end(guesser.usernameKey);
        this.#byAddress.end(address);
      },
    };
  }

  /** Keys in memory, for the bound. */
  get size(): number {
    return this.#byUsername.size + this.#byAddress.size;
  }
}
