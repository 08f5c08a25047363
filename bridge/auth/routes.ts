/** Handlers of `/auth/…` and `/users…`, one each. */
import type { BridgeApi } from "../../shared/api/bridge_api.ts";
import { limits } from "../../shared/limits.ts";
import { validationResponse } from "../../shared/http/answer.ts";
import type { Handlers } from "../../shared/http/router.ts";
import { ok } from "../../shared/schema/common.ts";
import type { CreateUser, Me, SetPassword, User, WsTicket } from "../../shared/schema/auth.ts";
import { z } from "zod";
import type { Audit, AuditAction } from "./audit.ts";
import type { AuthTime } from "./auth_time.ts";
import type { Login } from "./login.ts";
import { parseUsername } from "./names.ts";
import { isSelf } from "./policy.ts";
import { actorName, type Principal } from "./principals.ts";
import { newSecret } from "./secrets.ts";
import type { Sessions } from "./sessions.ts";
import type { Tickets } from "./tickets.ts";
import { shownUser } from "./user_records.ts";
import type { Users } from "./users.ts";

export interface AuthHandlersOptions {
  readonly insecure: boolean;
  readonly login: Login;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly tickets: Tickets;
  readonly audit: Audit;
  readonly time: AuthTime;
  /** Closes the user's sockets and voids their tickets. */
  readonly onRevoked: (userId: string) => void;
}

export type AuthRoute =
  | "authMode"
  | "login"
  | "logout"
  | "wsTicket"
  | "me"
  | "listUsers"
  | "createUser"
  | "deleteUser"
  | "setUserRole"
  | "setUserEmail"
  | "setUserPassword";

/** Who asked, from where. */
interface Asker {
  readonly principal: Principal;
  readonly connection: { readonly remoteAddress: string };
}

/** The handlers, to be spread into the bridge's whole table. */
export function authHandlers(
  options: AuthHandlersOptions,
): Pick<Handlers<BridgeApi, Principal>, AuthRoute> {
  const { insecure, login, users, audit } = options;
  const tracked = <Result>(
    { principal, connection }: Asker,
    action: AuditAction,
    target: string,
    work: () => Promise<Result>,
  ) => audit.track({ principal, action, target, address: connection.remoteAddress }, work);
  return {
    authMode: () => ({ authRequired: !insecure }),
    login: ({ body, connection }) => login.login({ ...body, address: connection.remoteAddress }),
    logout: async (call) => {
      await logout(options, call);
      return ok;
    },
    wsTicket: ({ principal }) => issueTicket(options, principal),
    me: ({ principal }) => me(principal),
    listUsers: () => users.list(),
    createUser: async (call) => {
      const body: CreateUser = call.body;
      const username = parseUsername(body.username);
      return await tracked(
        call,
        "user.create",
        username,
        async () => shownUser(await users.create(body)),
      );
    },
    deleteUser: async (call) => {
      const username = parseUsername(call.params.username);
      await tracked(call, "user.delete", username, () => users.remove(username));
      return ok;
    },
    setUserRole: async (call) => {
      const username = parseUsername(call.params.username);
      return await tracked(
        call,
        "user.role",
        username,
        () => users.setRole(username, call.body.role),
      );
    },
    setUserEmail: async (call) => {
      const username = parseUsername(call.params.username);
      return await tracked(
        call,
        "user.email",
        username,
        () => users.setEmail(username, call.body.email),
      );
    },
    setUserPassword: async (call) => {
      const username = parseUsername(call.params.username);
      const self = isSelf(call.principal, username);
      if (self && call.body.currentPassword === undefined) return currentPasswordMissing();
      return await tracked(
        call,
        "user.password",
        username,
        () => setPassword(users, { username, self, body: call.body, asker: call }),
      );
    },
  };
}

/** An admin who changes somebody else's password need not know it; everybody else must. */
function setPassword(
  users: Users,
  { username, self, body, asker }: {
    username: string;
    self: boolean;
    body: SetPassword;
    asker: Asker;
  },
): Promise<User> {
  const address = asker.connection.remoteAddress;
  const current = self ? { password: body.currentPassword ?? "", address } : null;
  return users.setPassword(username, { password: body.password, current });
}

/** A missing field, in the form of all the others; only here is it known who must give it. */
function currentPasswordMissing(): Response {
  return validationResponse(
    new z.ZodError([{
      code: "invalid_type",
      expected: "string",
      path: ["currentPassword"],
      message: "Required to change your own password",
      input: undefined,
    }]),
  );
}

async function logout(
  { sessions, audit, onRevoked }: AuthHandlersOptions,
  { principal, connection }: Asker,
): Promise<void> {
  if (principal.kind !== "user") return;
  await sessions.revoke(principal.sessionHash);
  onRevoked(principal.userId);
  audit.record({
    actor: actorName(principal),
    action: "logout",
    target: principal.username,
    outcome: "ok",
    address: connection.remoteAddress,
  });
}

function issueTicket({ tickets, time }: AuthHandlersOptions, principal: Principal): WsTicket {
  const expiresAt = new Date(time.nowMs() + limits.ticketLifeMs).toISOString();
  // Without authentication every socket opens; clients that ask for a ticket all the same get one.
  const ticket = principal.kind === "user" ? tickets.issue(principal) : newSecret();
  return { ticket, expiresAt };
}

function me(principal: Principal): Me {
  if (principal.kind === "user") {
    const { username, email, role } = principal;
    return { username, email, role };
  }
  return { username: "insecure", email: "", role: "admin" };
}
