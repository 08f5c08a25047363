/** Where the tokens of ships are kept. */
import type { ShipName } from "../../shared/ids.ts";

/** Both tokens of a ship, or neither (`null`). */
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
  save(ship: ShipName, tokens: ShipTokens | null): Promise<void>;
  remove(ship: ShipName): Promise<void>;
}
