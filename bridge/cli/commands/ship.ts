/** `grid ship …` */
import { parseIdentifier } from "../../../shared/parse.ts";
import { shipUrlSchema } from "../../../shared/schema/ship.ts";
import type { ShipInfo } from "../../../shared/schema/ship.ts";
import type { ValuesOf } from "../arguments.ts";
import type { commandTable } from "../command_table.ts";
import { type Context, print } from "../context.ts";
import { UsageFailure } from "../failure.ts";
import { type Cell, table } from "../output.ts";
import { askHidden, canAsk } from "../secret_input.ts";

type Values<Name extends keyof typeof commandTable> = ValuesOf<(typeof commandTable)[Name]>;

/** `online` in green, `offline` in red. */
export function statusCell(status: ShipInfo["status"]): Cell {
  return { text: status, colour: status === "online" ? "green" : "red" };
}

export async function listShips(_: Values<"ship ls">, context: Context): Promise<void> {
  const ships = await context.client.call("listShips", {});
  print(
    context,
    ships,
    ships.length === 0
      ? "no ships yet: `grid ship add <url>` registers one, `grid up` runs one here\n"
      : table(
        ["SHIP", "STATUS", "URL"],
        ships.map(({ name, status, url }) => [name, statusCell(status), url]),
        context,
      ),
  );
}

export async function addShip({ url }: Values<"ship add">, context: Context): Promise<void> {
  const parsed = shipUrlSchema.safeParse(url);
  if (!parsed.success) {
    const why = parsed.error.issues[0]?.message ?? "is invalid";
    throw new UsageFailure(`a ship's URL ${why}, not ${JSON.stringify(url)}`);
  }
  const tokens = await registrationTokens(context);
  const ship = await context.client.call("registerShip", { body: { url: parsed.data, ...tokens } });
  print(
    context,
    ship,
    table(["SHIP", "STATUS", "URL"], [[ship.name, statusCell(ship.status), ship.url]], context) +
      `next: grid new <repo> <name> --ship ${ship.name}\n`,
  );
}

/** From the environment, else from a terminal, else none; one alone is for the bridge to refuse. */
async function registrationTokens(
  { io, registration }: Context,
): Promise<{ bridgeToken?: string; shipToken?: string }> {
  const { bridgeToken, shipToken } = registration;
  if (bridgeToken !== undefined || shipToken !== undefined) return given(bridgeToken, shipToken);
  if (!canAsk(io)) return {};
  const asked = await askHidden(
    io,
    "Bridge token, the ship's GRID_BRIDGE_TOKEN (empty: the ship asks for none)",
  );
  if (asked === "") return {};
  return given(asked, await askHidden(io, "Ship token, the ship's GRID_SHIP_TOKEN"));
}

const given = (bridgeToken: string | undefined, shipToken: string | undefined) => ({
  ...(bridgeToken ? { bridgeToken } : {}),
  ...(shipToken ? { shipToken } : {}),
});

export async function removeShip({ name }: Values<"ship rm">, context: Context): Promise<void> {
  const params = { name: parseIdentifier("ship", name) };
  const reply = await context.client.call("removeShip", { params });
  print(context, reply, `${name} is off the roster; its workspaces stay on its host\n`);
}
