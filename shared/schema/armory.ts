/** The armory on the wire (interface, "Armory records"). */
import { z } from "zod";
import { limits } from "../limits.ts";
import { shipNameSchema } from "./identifier.ts";
import { shipStatusSchema, shipUrlSchema } from "./ship.ts";

export const armorySections = ["skills", "plugins", "dotfiles"] as const;
export const armorySectionSchema = z.enum(armorySections);
export type ArmorySection = z.infer<typeof armorySectionSchema>;

/** Lowercase hex, as `sha256` and `revision` are. */
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, "must be a sha256 in lowercase hex");

export const armoryEntrySchema = z.object({
  /** POSIX, relative to the armory: it begins with its section. */
  path: z.string(),
  section: armorySectionSchema,
  /** Bytes. */
  size: z.int().min(0),
  sha256: sha256Schema,
  /** Every executable file is 0o755, every other 0o644. */
  mode: z.union([z.literal(0o755), z.literal(0o644)]),
});
export type ArmoryEntry = z.infer<typeof armoryEntrySchema>;

/** From a path below `dotfiles/` to `~/…` or an absolute path. */
export const dotfileMapSchema = z.record(z.string(), z.string());
export type DotfileMap = z.infer<typeof dotfileMapSchema>;

export const armoryManifestSchema = z.object({
  revision: sha256Schema,
  entries: z.array(armoryEntrySchema).max(limits.armoryEntriesMax),
  dotfileMap: dotfileMapSchema,
});
export type ArmoryManifest = z.infer<typeof armoryManifestSchema>;

export const armoryFileSchema = armoryEntrySchema.extend({
  encoding: z.enum(["utf8", "base64"]),
  contents: z.string(),
});
export type ArmoryFile = z.infer<typeof armoryFileSchema>;

export const armoryFileQuerySchema = z.object({ path: z.string() });

export const armoryInstallSchema = z.object({
  /** Counts are files; one that several directories carry counts once. */
  skillCount: z.number(),
  pluginCount: z.number(),
  dotfileCount: z.number(),
  removedCount: z.number(),
  /** Destinations left alone because something that is not the ship's stands there. */
  conflicts: z.array(z.string()),
  warnings: z.array(z.string()),
  installedAt: z.string().nullable(),
});
export type ArmoryInstall = z.infer<typeof armoryInstallSchema>;

export const armorySyncStateSchema = z.object({
  revision: z.string().nullable(),
  bridgeUrl: z.string().nullable(),
  syncedAt: z.string().nullable(),
  fileCount: z.number(),
  install: armoryInstallSchema.nullable(),
  lastError: z.string().nullable(),
});
export type ArmorySyncState = z.infer<typeof armorySyncStateSchema>;

export const shipArmoryStateSchema = z.object({
  ship: shipNameSchema,
  status: shipStatusSchema,
  state: armorySyncStateSchema.nullable(),
});
export type ShipArmoryState = z.infer<typeof shipArmoryStateSchema>;

/** `revision` is a hint: the ship applies what the manifest that it fetches says. */
export const armoryPushSchema = z.object({ bridgeUrl: shipUrlSchema, revision: z.string() });
export type ArmoryPush = z.infer<typeof armoryPushSchema>;
