/** A call to a ship, and what its failures mean to whoever asked the bridge. */
import { z } from "zod";
import { fail, Failure, relayed } from "../../shared/errors.ts";
import { CallError, type Client } from "../../shared/http/client.ts";
import type { ShipApi } from "../../shared/api/ship_api.ts";
import type { ShipLink } from "../fleet/ship_link.ts";

/**
 * Runs `work` with the ship's client. A transport failure drops the ship's connection, so that it is
 * offline until it has proved itself again. Throws `shipUnreachable`, `shipAnswerInvalid`, what the ship
 * answered (`relayed`), or what `work` throws besides.
 */
export async function callShip<T>(
  link: ShipLink,
  work: (client: Client<ShipApi>) => Promise<T>,
): Promise<T> {
  const { generation } = link;
  try {
    return await work(link.client);
  } catch (thrown) {
    throw thrown instanceof CallError ? meaningOf(link, generation, thrown) : thrown;
  }
}

/** What went wrong, as the bridge's own failure. */
export function meaningOf(link: ShipLink, generation: number, error: CallError): Failure {
  switch (error.kind) {
    case "transport":
      link.drop(generation, `a call failed: ${error.message}`);
      return fail("shipUnreachable", { ship: link.name, message: error.message });
    case "invalid":
      return fail("shipAnswerInvalid", { ship: link.name, what: error.message });
    case "status":
      return answered(link, error.status, error.body);
  }
}

/** The failure that a ship answered with; one that no ship of ours gives is a 502. */
export function answered(link: ShipLink, status: number, body: unknown): Failure {
  const said = shipErrorSchema.safeParse(body);
  if (status === 422 && zodErrorSchema.safeParse(body).success) {
    return relayed(status, "the ship found the request invalid", undefined, body);
  }
  if (status < 400 || status > 599 || !said.success) {
    return fail("shipAnswerInvalid", {
      ship: link.name,
      what: `HTTP ${status} and no error of its own`,
    });
  }
  return relayed(status, said.data.error, said.data.reason);
}

const shipErrorSchema = z.object({ error: z.string(), reason: z.string().optional() });
const zodErrorSchema = z.object({
  success: z.literal(false),
  error: z.object({ name: z.literal("ZodError"), issues: z.array(z.unknown()) }),
});
