import type { ShipCredentials, ShipTokens } from "../../bridge/fleet/credentials.ts";
import type { ShipName } from "../../shared/ids.ts";

/** Credentials that live as long as the process. */
export class MemoryShipCredentials implements ShipCredentials {
  readonly #tokens = new Map<ShipName, ShipTokens>();

  bridgeToken(ship: ShipName): Promise<string | null> {
    return Promise.resolve(this.#tokens.get(ship)?.bridgeToken ?? null);
  }
  save(ship: ShipName, tokens: ShipTokens | null): Promise<void> {
    if (tokens === null) this.#tokens.delete(ship);
    else this.#tokens.set(ship, tokens);
    return Promise.resolve();
  }
  remove(ship: ShipName): Promise<void> {
    this.#tokens.delete(ship);
    return Promise.resolve();
  }
}
