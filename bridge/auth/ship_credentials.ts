/**
 * The token pair of each ship: the bridgeToken as it is, because the bridge presents it on every call, the
 * shipToken as sha256.
 */
import { z } from "zod";
import { fail } from "../../shared/errors.ts";
import type { ShipName } from "../../shared/ids.ts";
import type { ShipCredentials, ShipTokens } from "../fleet/credentials.ts";
import { equalHashes, newSecret, secretHash } from "./secrets.ts";
import type { AuthStore } from "./store.ts";

const recordSchema = z.object({ bridgeToken: z.string(), shipTokenHash: z.string() });
type CredentialRecord = z.infer<typeof recordSchema>;
const namesSchema = z.array(z.string());

const credentialKey = (ship: string) => ["ship", ship];
/** The ships that present one token: several, when somebody registered them with the same pair. */
const tokenKey = (hash: string) => ["shipToken", hash];
const triesMax = 16;

export class ShipCredentialStore implements ShipCredentials {
  constructor(private readonly store: AuthStore) {}

  async bridgeToken(ship: ShipName): Promise<string | null> {
    const entry = await this.store.kv.get(credentialKey(ship));
    return entry.versionstamp === null ? null : recordSchema.parse(entry.value).bridgeToken;
  }

  async save(ship: ShipName, tokens: ShipTokens | null): Promise<void> {
    if (tokens === null) return await this.remove(ship);
    const { bridgeToken, shipToken } = tokens;
    await this.#replace(ship, { bridgeToken, shipTokenHash: await secretHash(shipToken) });
  }

  async remove(ship: ShipName): Promise<void> {
    await this.#replace(ship, null);
  }

  /** The pair of a ship that the launcher starts: its bridgeToken again, and always a new shipToken. */
  async provision(ship: ShipName): Promise<ShipTokens> {
    const pair = {
      bridgeToken: await this.bridgeToken(ship) ?? newSecret(),
      shipToken: newSecret(),
    };
    await this.save(ship, pair);
    return pair;
  }

  /** The ship that presents `token`, or null. */
  async shipOfToken(token: string): Promise<ShipName | null> {
    const hash = await secretHash(token);
    const entry = await this.store.kv.get(tokenKey(hash));
    if (entry.versionstamp === null || !equalHashes(String(entry.key[1]), hash)) return null;
    return (namesSchema.parse(entry.value)[0] ?? null) as ShipName | null;
  }

  async #replace(ship: ShipName, next: CredentialRecord | null): Promise<void> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      if (await this.#tryReplace(ship, next)) return;
    }
    throw fail("tooBusy", { what: `changes to the credentials of ship ${ship}` });
  }

  async #tryReplace(ship: ShipName, next: CredentialRecord | null): Promise<boolean> {
    const kv = this.store.kv;
    const entry = await kv.get(credentialKey(ship));
    const before = entry.versionstamp === null ? null : recordSchema.parse(entry.value);
    const operation = kv.atomic().check(entry);
    if (next === null) operation.delete(entry.key);
    else operation.set(entry.key, next);
    if (before !== null && before.shipTokenHash !== next?.shipTokenHash) {
      await this.#editNames(operation, before.shipTokenHash, (names) => names.delete(ship));
    }
    if (next !== null && before?.shipTokenHash !== next.shipTokenHash) {
      await this.#editNames(operation, next.shipTokenHash, (names) => names.add(ship));
    }
    return await this.store.commit(operation);
  }

  async #editNames(
    operation: Deno.AtomicOperation,
    hash: string,
    edit: (names: Set<string>) => unknown,
  ): Promise<void> {
    const entry = await this.store.kv.get(tokenKey(hash));
    const names = new Set(entry.versionstamp === null ? [] : namesSchema.parse(entry.value));
    edit(names);
    operation.check(entry);
    if (names.size === 0) operation.delete(entry.key);
    else operation.set(entry.key, [...names]);
  }
}
