/** Agent tokens: minted when the bridge connects to a ship, pushed to it, and good for `/repos` alone. */
import { z } from "zod";
import { fail } from "../../shared/errors.ts";
import type { ShipName } from "../../shared/ids.ts";
import { equalHashes, newSecret, secretHash } from "./secrets.ts";
import type { AuthStore } from "./store.ts";

const hashesSchema = z.array(z.string());

const shipKey = (ship: string) => ["agentTokens", ship];
const tokenKey = (hash: string) => ["agentToken", hash];
/** The new one, and the one that the ship holds until the push has reached it. */
const tokensPerShipMax = 2;
const triesMax = 16;

export class AgentTokens {
  constructor(private readonly store: AuthStore) {}

  /** A new token for `ship`; the one before stays good until `confirm`, in case the push fails. */
  async mint(ship: ShipName): Promise<string> {
    const token = newSecret();
    const hash = await secretHash(token);
    await this.#replace(ship, (hashes) => [...hashes, hash].slice(-tokensPerShipMax));
    return token;
  }

  /** The ship has taken `token`: every other one of it is void. */
  async confirm(ship: ShipName, token: string): Promise<void> {
    const hash = await secretHash(token);
    await this.#replace(ship, (hashes) => hashes.filter((one) => one === hash));
  }

  /** The ship has left the roster. */
  async revoke(ship: ShipName): Promise<void> {
    await this.#replace(ship, () => []);
  }

  /** The ship whose agents present `token`, or null. */
  async shipOfToken(token: string): Promise<ShipName | null> {
    const hash = await secretHash(token);
    const entry = await this.store.kv.get(tokenKey(hash));
    if (entry.versionstamp === null || !equalHashes(String(entry.key[1]), hash)) return null;
    return z.string().parse(entry.value) as ShipName;
  }

  async #replace(ship: ShipName, next: (hashes: string[]) => string[]): Promise<void> {
    const kv = this.store.kv;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const entry = await kv.get(shipKey(ship));
      const before = entry.versionstamp === null ? [] : hashesSchema.parse(entry.value);
      const after = next(before);
      const operation = kv.atomic().check(entry);
      for (const hash of before) if (!after.includes(hash)) operation.delete(tokenKey(hash));
      for (const hash of after) if (!before.includes(hash)) operation.set(tokenKey(hash), ship);
      if (after.length === 0) operation.delete(entry.key);
      else operation.set(entry.key, after);
      if (await this.store.commit(operation)) return;
    }
    throw fail("tooBusy", { what: `agent tokens of ship ${ship}` });
  }
}
