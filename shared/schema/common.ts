/** Small bodies that several routes share. */
import { z } from "zod";

export const okSchema = z.object({ ok: z.literal(true) });
export const errorBodySchema = z.object({ error: z.string(), reason: z.string().optional() });
export const ok = { ok: true } as const;
