/** Repos: the bridge's registry of clone URLs (interface, "Ships, repos"). */
import { z } from "zod";
import { repoNameSchema } from "./identifier.ts";

export const repoSchema = z.object({
  name: repoNameSchema,
  url: z.string().min(1),
  provider: z.string().min(1),
});
export type Repo = z.infer<typeof repoSchema>;

export const createRepoSchema = z.object({
  name: z.string(),
  url: z.string(),
  provider: z.string().optional(),
});
export type CreateRepo = z.infer<typeof createRepoSchema>;

export const repoBranchSchema = z.object({ name: z.string(), sha: z.string() });
export type RepoBranch = z.infer<typeof repoBranchSchema>;
