/** Puts a ship that runs here on the bridge's roster. */
import type { BridgeApi } from "../../shared/api/bridge_api.ts";
import { CallError, type Client } from "../../shared/http/client.ts";
import type { ShipName } from "../../shared/ids.ts";
import type { Notice } from "./notice.ts";

/**
 * Registers the ship `name` at `url`. The same entry already there is fine; the name at another URL (the
 * port changed since the last launch) is taken off and registered anew, and reported.
 */
export async function registerShip(
  client: Client<BridgeApi>,
  { name, url, tokens }: {
    readonly name: ShipName;
    readonly url: string;
    /** The pair that the bridge made for it; null for a ship that asks for none. */
    readonly tokens: { readonly bridgeToken: string; readonly shipToken: string } | null;
  },
  notice: (notice: Notice) => void,
): Promise<void> {
  const before = (await client.call("listShips", {})).find((ship) => ship.name === name);
  if (before?.url === url) return;
  if (before !== undefined) {
    await client.call("removeShip", { params: { name } }).catch((thrown: unknown) => {
      // Somebody else was quicker: what was wanted is done.
      if (!(thrown instanceof CallError) || thrown.status !== 404) throw thrown;
    });
  }
  await client.call("registerShip", { body: { url, ...tokens } });
  notice(
    before === undefined
      ? { kind: "registered", ship: name, url }
      : { kind: "moved", ship: name, url, before: before.url },
  );
}
