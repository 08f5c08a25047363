/** Passwords: Argon2id by WebCrypto, natively and off the main thread, a bounded number at once. */
import { fail } from "../../shared/errors.ts";
import { Semaphore } from "../../shared/host/semaphore.ts";
import { limits } from "../../shared/limits.ts";
import { type Argon2Cost, encodePhc, parsePhc } from "./phc.ts";
import { equalBytes } from "./secrets.ts";

/** The decided cost: OWASP's first choice for Argon2id. */
export const passwordCost: Argon2Cost = { memoryKiB: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;
const retrySeconds = 2;

/** What one who has the turn may compute; each call is one Argon2 computation. */
export interface PasswordTurn {
  /** A PHC string of `password` with a fresh salt and the current cost. */
  hash(password: string): Promise<string>;
  /**
   * Whether `password` fits `phc`, and whether that is of another cost than the current one. With a null
   * `phc` (no such user) it computes as much and says no.
   */
  verify(password: string, phc: string | null): Promise<{ fits: boolean; outdated: boolean }>;
}

/** Gives turns: two at a time, because each computation takes 19 MiB and a core. */
export class PasswordHasher {
  readonly #permits = new Semaphore(limits.passwordConcurrencyMax, limits.passwordQueueMax);
  readonly #decoy: string;
  #computations = 0;

  constructor(private readonly cost: Argon2Cost = passwordCost) {
    // Its tag belongs to no password that anybody could know.
    this.#decoy = encodePhc({
      ...cost,
      salt: crypto.getRandomValues(new Uint8Array(saltBytes)),
      tag: crypto.getRandomValues(new Uint8Array(tagBytes)),
    });
  }

  /** Argon2 computations so far. */
  get computations(): number {
    return this.#computations;
  }

  /** Waits for a turn and gives it to `work`. Throws `tooBusy` when 32 others wait already. */
  async turn<Result>(work: (turn: PasswordTurn) => Promise<Result>): Promise<Result> {
    using permit = await this.#permits.acquire();
    if (permit === null) {
      throw fail("tooBusy", { what: "password checks" }, { retryAfterSeconds: retrySeconds });
    }
    return await work({
      hash: (password) => this.#hash(password),
      verify: (password, phc) => this.#verify(password, phc),
    });
  }

  async #hash(password: string): Promise<string> {
    const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
    const tag = await this.#derive(password, { ...this.cost, salt, bytes: tagBytes });
    return encodePhc({ ...this.cost, salt, tag });
  }

  async #verify(password: string, phc: string | null) {
    const stored = parsePhc(phc ?? this.#decoy);
    if (stored === null) throw new Error("a stored password hash is not an Argon2id PHC string");
    const tag = await this.#derive(password, { ...stored, bytes: stored.tag.length });
    return {
      fits: equalBytes(tag, stored.tag) && phc !== null,
      outdated: stored.memoryKiB !== this.cost.memoryKiB || stored.passes !== this.cost.passes ||
        stored.parallelism !== this.cost.parallelism || stored.tag.length !== tagBytes,
    };
  }

  async #derive(
    password: string,
    { salt, bytes, ...cost }: Argon2Cost & { salt: Uint8Array<ArrayBuffer>; bytes: number },
  ): Promise<Uint8Array<ArrayBuffer>> {
    this.#computations += 1;
    const secret = new TextEncoder().encode(password);
    return await argon2id(secret, { ...cost, salt, bytes });
  }
}

/** What Argon2id is computed from besides the password (RFC 9106 section 3.1). */
export interface Argon2Input extends Argon2Cost {
  readonly salt: Uint8Array<ArrayBuffer>;
  /** Length of the tag. */
  readonly bytes: number;
  readonly secret?: Uint8Array<ArrayBuffer>;
  readonly associatedData?: Uint8Array<ArrayBuffer>;
}

/** Argon2id version 0x13 through `crypto.subtle` (WICG "Modern Algorithms in the Web Cryptography API"). */
export async function argon2id(
  password: Uint8Array<ArrayBuffer>,
  input: Argon2Input,
): Promise<Uint8Array<ArrayBuffer>> {
  // TypeScript's library does not know the algorithm yet.
  const key = await crypto.subtle.importKey(
    "raw-secret" as "raw",
    password,
    "Argon2id",
    false,
    ["deriveBits"],
  );
  const parameters = {
    name: "Argon2id",
    nonce: input.salt,
    parallelism: input.parallelism,
    memory: input.memoryKiB,
    passes: input.passes,
    ...input.secret === undefined ? {} : { secretValue: input.secret },
    ...input.associatedData === undefined ? {} : { associatedData: input.associatedData },
  };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, input.bytes * 8));
}
