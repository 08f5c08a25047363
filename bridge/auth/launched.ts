/** The bridge's half of being launched: a first admin, and what the launcher asked for. */
import type { LaunchAnswer, LaunchRequest } from "../launch/exchange.ts";
import type { Authentication } from "./authentication.ts";
import {
  type AdminTerminal,
  type AdminVariables,
  decideFirstAdmin,
  promptFirstAdmin,
} from "./first_admin.ts";
import { secretHash } from "./secrets.ts";

/** The start is refused for want of an admin; the launcher may ask for one and start again. */
export class NoAdminError extends Error {
  override readonly name = "NoAdminError";
}

export interface FirstAdminSources {
  readonly insecure: boolean;
  readonly variables: AdminVariables;
  /** Null: standard input is no terminal. */
  readonly terminal: AdminTerminal | null;
}

/** Makes the first admin where there is none; true when it did. Throws `NoAdminError`. */
export async function ensureFirstAdmin(
  { users }: Authentication,
  { insecure, variables, terminal }: FirstAdminSources,
): Promise<boolean> {
  const decision = decideFirstAdmin({
    hasAdmin: await users.hasAdmin(),
    insecure,
    variables,
    stdinIsTerminal: terminal !== null,
  });
  switch (decision.kind) {
    case "none":
      return false;
    case "refuse":
      throw new NoAdminError(decision.message);
    case "create":
      await users.create(decision.user);
      return true;
    case "prompt":
      if (terminal === null) throw new Error("a prompt needs a terminal");
      await users.create(await promptFirstAdmin(terminal));
      return true;
  }
}

/** Provisions what `request` asks for. */
export async function answerLaunch(
  authentication: Authentication,
  request: LaunchRequest,
  { insecure, firstAdminCreated }: {
    readonly insecure: boolean;
    readonly firstAdminCreated: boolean;
  },
): Promise<LaunchAnswer> {
  const ships = [];
  for (const name of request.ships) {
    ships.push({ name, ...await authentication.shipCredentials.provision(name) });
  }
  const session = insecure ? null : await launchSession(authentication, request.session);
  return { kind: "answer", ships, session, firstAdminCreated };
}

/** A session of the same user as before, else of the first admin there is; the one before ends. */
async function launchSession(
  { sessions, users }: Authentication,
  before: string | null,
): Promise<LaunchAnswer["session"]> {
  const old = before === null ? null : await sessions.ofToken(before);
  const user = old?.user ?? await users.firstAdmin();
  if (user === null) return null;
  const { token, expiresAt } = await sessions.issue(user);
  if (before !== null) await sessions.revoke(await secretHash(before));
  return { token, username: user.username, expiresAt: expiresAt.toISOString() };
}
