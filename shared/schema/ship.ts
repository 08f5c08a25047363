/** Ships and host figures (interface, "Ships, repos", "SystemResources"). */
import { z } from "zod";
import { shipNameSchema } from "./identifier.ts";

export const shipStatusSchema = z.enum(["online", "offline"]);
export type ShipStatus = z.infer<typeof shipStatusSchema>;

export const shipRecordSchema = z.object({ name: shipNameSchema, url: z.string() });
export type ShipRecord = z.infer<typeof shipRecordSchema>;

export const shipInfoSchema = shipRecordSchema.extend({ status: shipStatusSchema });
export type ShipInfo = z.infer<typeof shipInfoSchema>;

/** An origin or base of a ship: http(s), no userinfo, query or fragment; a trailing slash is dropped. */
export const shipUrlSchema = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const why = url === null
    ? "must be a URL such as http://127.0.0.1:4700"
    : url.protocol !== "http:" && url.protocol !== "https:"
    ? "must be http or https"
    : url.username !== "" || url.password !== ""
    ? "must not contain a user name or password"
    : url.search !== "" || url.hash !== "" || /[?#]/.test(text)
    ? "must not contain a query or fragment"
    : null;
  if (url === null || why !== null) {
    context.addIssue({ code: "custom", message: why ?? "must be a URL" });
    return z.NEVER;
  }
  return url.href.replace(/\/+$/, "");
});

/** What fits an Authorization header; 32 bytes in base64url have 43 characters. */
const tokenSchema = z.string().regex(
  /^[\x21-\x7e]{1,512}$/,
  "must be 1 to 512 printable ASCII characters without spaces",
);

export const registerShipSchema = z.object({
  url: shipUrlSchema,
  bridgeToken: tokenSchema.optional(),
  shipToken: tokenSchema.optional(),
});
export type RegisterShip = z.infer<typeof registerShipSchema>;

export const systemResourcesSchema = z.object({
  uptimeSeconds: z.number(),
  os: z.object({
    type: z.string(),
    platform: z.string(),
    release: z.string(),
    version: z.string(),
    arch: z.string(),
    machine: z.string(),
    hostname: z.string(),
  }),
  cpu: z.object({
    model: z.string(),
    cores: z.number(),
    usage: z.number(),
    loadAverage: z.tuple([z.number(), z.number(), z.number()]),
  }),
  memory: z.object({
    total: z.number(),
    free: z.number(),
    used: z.number(),
    usage: z.number(),
  }),
});
export type SystemResources = z.infer<typeof systemResourcesSchema>;

export const shipSystemResourcesSchema = z.object({
  ship: shipNameSchema,
  status: shipStatusSchema,
  resources: systemResourcesSchema.nullable(),
  error: z.string().nullable(),
});
export type ShipSystemResources = z.infer<typeof shipSystemResourcesSchema>;
