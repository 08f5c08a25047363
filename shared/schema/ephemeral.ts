/** The bridge's record of a workspace that goes away with its pull request (interface, "EphemeralWorkspace"). */
import { z } from "zod";
import { limits } from "../limits.ts";
import { repoNameSchema, shipNameSchema, workspaceNameSchema } from "./identifier.ts";

export const ephemeralSchema = z.object({
  repoName: repoNameSchema,
  name: workspaceNameSchema,
  ship: shipNameSchema,
  issueNumber: z.int().positive(),
  branch: z.string(),
  cleanup: z.enum(["watching", "blocked"]),
  blockedReason: z.string().max(limits.blockedReasonCharactersMax).nullable().default(null),
  blockedAt: z.string().nullable().default(null),
  pullRequest: z.object({ number: z.int().positive(), state: z.string(), url: z.string() })
    .nullable().default(null),
});
export type EphemeralWorkspace = z.infer<typeof ephemeralSchema>;

/** What a cleanup pass did (interface, bridge behaviour 14). */
export const sweepResultSchema = z.object({
  /** Records whose pull requests were read. */
  checked: z.int(),
  destroyed: z.int(),
  /** Cleanups that the ship refused. */
  blocked: z.int(),
  /** Left for later: the ship is offline, or the forge or ship could not answer. */
  skipped: z.int(),
  /** Records dropped because the workspace is gone. */
  forgotten: z.int(),
});
export type SweepResult = z.infer<typeof sweepResultSchema>;
