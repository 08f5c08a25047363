/** Who may call what: pure, from a principal and a route's audience to a verdict. */
import type { Audience } from "../../shared/api/endpoint.ts";
import { usernameKey } from "./names.ts";
import type { Principal } from "./principals.ts";

/** `unauthorized` is a 401, the other two are 403. */
export type Refusal = "unauthorized" | "wrongCredential" | "adminRequired";

/** What is asked for; the audience is null when no route has that path or that method of it. */
export interface Asked {
  readonly audience: Audience | null;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Null lets the principal pass. An anonymous one learns nothing: unknown paths refuse it alike. */
export function refusalOf(principal: Principal, { audience, params }: Asked): Refusal | null {
  if (audience === "none") return null;
  switch (principal.kind) {
    case "insecure":
      return null;
    case "anonymous":
      return "unauthorized";
    case "user":
      return userRefusal(principal, audience, params);
    case "ticket":
      return audience === "ticket" || audience === null ? null : "wrongCredential";
    case "ship":
      return audience === "armory" ? null : "wrongCredential";
    case "shipAgent":
      return audience === "repos" || (audience === null && principal.atRepos)
        ? null
        : "wrongCredential";
  }
}

function userRefusal(
  user: Principal & { kind: "user" },
  audience: Exclude<Audience, "none"> | null,
  params: Asked["params"],
): Refusal | null {
  switch (audience) {
    case null:
    case "user":
    case "armory":
    case "repos":
      return null;
    case "admin":
      return user.role === "admin" ? null : "adminRequired";
    case "self":
      return user.role === "admin" || isSelf(user, params.username) ? null : "adminRequired";
    case "ticket":
      return "wrongCredential";
    case "bridge":
    case "agent":
      // Routes of a ship; the bridge's table has none.
      return "wrongCredential";
  }
}

/** Whether `username`, as a path gives it, names the principal. */
export function isSelf(principal: Principal, username: unknown): boolean {
  return principal.kind === "user" && typeof username === "string" &&
    usernameKey(principal.username) === usernameKey(username);
}
