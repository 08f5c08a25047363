/** Users, sessions and tickets (interface, "Authentication"; decisions, "Bridge: authentication"). */
import { z } from "zod";
import { limits } from "../limits.ts";

export const roles = ["member", "admin"] as const;
export const roleSchema = z.enum(roles);
export type Role = z.infer<typeof roleSchema>;

const encoder = new TextEncoder();
const utf8Bytes = (text: string) => encoder.encode(text).length;

/** A password that may be set; at login any string is taken, and is right or wrong. */
export const newPasswordSchema = z.string().refine(
  (text) => {
    const bytes = utf8Bytes(text);
    return text.isWellFormed() && bytes >= limits.passwordBytesMin &&
      bytes <= limits.passwordBytesMax;
  },
  { message: `must be ${limits.passwordBytesMin} to ${limits.passwordBytesMax} bytes of text` },
);

/** Deliberately loose (RFC 5321 is): something, an `@`, something, no spaces or controls. */
export const emailSchema = z.string().refine(
  // deno-lint-ignore no-control-regex -- control characters are exactly what is refused
  (text) => /^[^\s@\u0000-\u001f\u007f-\u009f]+@[^\s@\u0000-\u001f\u007f-\u009f]+$/u.test(text),
  { message: "must look like name@host" },
).refine((text) => text.isWellFormed() && utf8Bytes(text) <= limits.emailBytesMax, {
  message: `must be at most ${limits.emailBytesMax} bytes of text`,
});

export const userSchema = z.object({
  username: z.string(),
  email: z.string(),
  role: roleSchema,
  createdAt: z.iso.datetime(),
});
export type User = z.infer<typeof userSchema>;

export const meSchema = userSchema.omit({ createdAt: true });
export type Me = z.infer<typeof meSchema>;

export const loginSchema = z.object({ username: z.string(), password: z.string() });
export const loginReplySchema = z.object({
  token: z.string(),
  expiresAt: z.iso.datetime(),
  user: userSchema,
});
export type LoginReply = z.infer<typeof loginReplySchema>;

export const wsTicketSchema = z.object({ ticket: z.string(), expiresAt: z.iso.datetime() });
export type WsTicket = z.infer<typeof wsTicketSchema>;

/** The username is a plain string here: one that is present but breaks the rules is a 400, not a 422. */
export const createUserSchema = z.object({
  username: z.string(),
  email: emailSchema,
  password: newPasswordSchema,
  role: roleSchema.default("member"),
});
export type CreateUser = z.infer<typeof createUserSchema>;

export const setRoleSchema = z.object({ role: roleSchema });
export const setEmailSchema = z.object({ email: emailSchema });
export const setPasswordSchema = z.object({
  password: newPasswordSchema,
  currentPassword: z.string().optional(),
});
export type SetPassword = z.infer<typeof setPasswordSchema>;
