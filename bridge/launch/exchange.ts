/**
 * What the launcher and the bridge that it starts tell each other, once, in a file (0600) of the data
 * directory: the launcher writes what it wants before the start, the bridge replaces that by its answer
 * before it listens, and the launcher takes the file away. A restarted bridge finds none and changes
 * nothing. So no token is in an argument or an environment but the ship's own, and the bridge alone
 * opens its database.
 */
import { z } from "zod";
import { readIfPresent, writeAtomically } from "../../shared/host/files.ts";
import { shipNameSchema } from "../../shared/schema/identifier.ts";

/** How a bridge ends that has no admin and was told of none. */
export const noAdminExitCode = 3;

const requestSchema = z.object({
  kind: z.literal("request"),
  /** The ships that need a token pair: the stored bridgeToken again, a new shipToken. */
  ships: z.array(shipNameSchema),
  /** The session that an earlier launch left for the command line; it is replaced. */
  session: z.string().nullable(),
});
export type LaunchRequest = z.infer<typeof requestSchema>;

const answerSchema = z.object({
  kind: z.literal("answer"),
  ships: z.array(
    z.object({ name: shipNameSchema, bridgeToken: z.string(), shipToken: z.string() }),
  ),
  /** Of an admin, for the command line of whoever launched; null without authentication. */
  session: z.object({ token: z.string(), username: z.string(), expiresAt: z.string() }).nullable(),
  /** Whether the variables were used: the bridge had no admin. */
  firstAdminCreated: z.boolean(),
});
export type LaunchAnswer = z.infer<typeof answerSchema>;

/** Writes either side's part. Throws `storageFailed`. */
export async function writeExchange(
  path: string,
  part: LaunchRequest | LaunchAnswer,
): Promise<void> {
  await writeAtomically(path, JSON.stringify(part));
}

/** The request, or null when there is none (any more). */
export async function readLaunchRequest(path: string): Promise<LaunchRequest | null> {
  const text = await readIfPresent(path);
  return text === null ? null : requestSchema.safeParse(JSON.parse(text)).data ?? null;
}

/** The bridge's answer. Throws when there is none: the bridge is of another version. */
export async function takeLaunchAnswer(path: string): Promise<LaunchAnswer> {
  const text = await readIfPresent(path);
  await Deno.remove(path).catch(() => {});
  return answerSchema.parse(JSON.parse(text ?? "null"));
}
