/** Query keys of the routes: what stands in a URL is text, and is read here. */
import { z } from "zod";

/** `true`, `false`, `1`, `0`, or empty (= true); anything else is a 422. */
export const booleanQuery = z.enum(["true", "false", "1", "0", ""]).transform((text) =>
  text === "true" || text === "1" || text === ""
);

/** `active`: `true` and `false` filter, any other value is no filter. */
export const activeQuerySchema = z.object({ active: z.string().optional() });

/** What the value of `active` asks for; null is no filter. */
export function activeFilter(text: string | undefined): boolean | null {
  return text === "true" ? true : text === "false" ? false : null;
}

/** Omitted keys stay omitted: an absent key and `false` are the same to git, but not to a forwarder. */
export const diffQuerySchema = z.object({
  staged: booleanQuery.optional(),
  stat: booleanQuery.optional(),
  nameOnly: booleanQuery.optional(),
  range: z.string().optional(),
  paths: z.array(z.string()).optional(),
  includeUntracked: booleanQuery.optional(),
});
export type DiffQuery = z.infer<typeof diffQuerySchema>;

export const forceQuerySchema = z.object({ force: booleanQuery.optional() });
