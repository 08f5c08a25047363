/** Where the tokens of ships are kept. */
import type { ShipName } from "../../shared/ids.ts";

/** The token pair of a ship. */
export interface ShipTokens {
  /** Presented to the ship with every call. */
  readonly bridgeToken: string;
  /** Presented by the ship; a store keeps its hash only. */
  readonly shipToken: string;
}

export interface ShipCredentials {
  /** The token that `ship` expects of this bridge, or null when it expects none. */
  bridgeToken(ship: ShipName): Promise<string | null>;
  /** Replaces what is kept of `ship`. */
  save(ship: ShipName, tokens: ShipTokens): Promise<void>;
  remove(ship: ShipName): Promise<void>;
}

/** Credentials that live as long as the process. */
export class MemoryShipCredentials implements ShipCredentials {
  readonly #tokens = new Map<ShipName, ShipTokens>();

  bridgeToken(ship: ShipName): Promise<string | null> {
    return Promise.resolve(this.#tokens.get(ship)?.bridgeToken ?? null);
  }
  save(ship: ShipName, tokens: ShipTokens): Promise<void> {
    this.#tokens.set(ship, tokens);
    return Promise.resolve();
  }
  remove(ship: ShipName): Promise<void> {
    this.#tokens.delete(ship);
    return Promise.resolve();
  }
}
