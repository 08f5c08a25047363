/** The bridge's door: who asks is settled before the path is looked at, and what they may after it. */
import { bearerToken } from "../../shared/http/bearer.ts";
import type { Endpoint } from "../../shared/api/endpoint.ts";
import { fail } from "../../shared/errors.ts";
import { type BrowserRules, checkBrowser } from "../../shared/http/browser_guard.ts";
import type { Connection } from "../../shared/http/connection.ts";
import { type Gate, isUpgrade } from "../../shared/http/router.ts";
import { pathSegments, rawQuery } from "../../shared/http/target.ts";
import type { AgentTokens } from "./agent_tokens.ts";
import type { LiveSockets } from "./live_sockets.ts";
import { refusalOf } from "./policy.ts";
import type { Principal } from "./principals.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { ShipCredentialStore } from "./ship_credentials.ts";
import type { Tickets } from "./tickets.ts";

export interface BridgeGateOptions {
  readonly insecure: boolean;
  /** Read anew for each request: the port is known only once the bridge listens. */
  readonly browserRules: () => BrowserRules;
  readonly sessions: Sessions;
  readonly tickets: Tickets;
  readonly liveSockets: LiveSockets;
  readonly shipCredentials: ShipCredentialStore;
  readonly agentTokens: AgentTokens;
}

const anonymous: Principal = { kind: "anonymous" };
/** Longer ones are nobody's and are not hashed; registration takes at most 512. */
const tokenCharactersMax = 512;

export class BridgeGate implements Gate<Principal> {
  constructor(private readonly options: BridgeGateOptions) {}

  async identify(request: Request, connection: Connection): Promise<Principal> {
    checkBrowser(request.headers, this.options.browserRules());
    if (this.options.insecure) return { kind: "insecure" };
    const ticket = isUpgrade(request) ? ticketOf(connection.rawTarget) : null;
    if (ticket !== null) return await this.#ofTicket(ticket);
    const token = bearerOf(request.headers);
    return token === null ? anonymous : await this.#ofToken(token, connection.rawTarget);
  }

  authorize(
    principal: Principal,
    endpoint: Endpoint | null,
    params: Readonly<Record<string, unknown>>,
  ): void {
    const refusal = refusalOf(principal, { audience: endpoint?.audience ?? null, params });
    if (refusal !== null) throw fail(refusal);
  }

  async #ofTicket(ticket: string): Promise<Principal> {
    const { tickets, sessions, liveSockets } = this.options;
    const owner = tickets.redeem(ticket);
    if (owner === null) return anonymous;
    // Before the session is read: a revocation after this line is seen by the mark, one before by the read.
    const revocationMark = liveSockets.mark(owner.userId);
    const session = await sessions.ofHash(owner.sessionHash);
    if (session === null) return anonymous;
    const { expiresAtMs } = session;
    return { ...ofUser(session), kind: "ticket", sessionExpiresAtMs: expiresAtMs, revocationMark };
  }

  async #ofToken(token: string, rawTarget: string): Promise<Principal> {
    const { sessions, shipCredentials, agentTokens } = this.options;
    const session = await sessions.ofToken(token);
    if (session !== null) return { ...ofUser(session), kind: "user" };
    const agentOf = await agentTokens.shipOfToken(token);
    if (agentOf !== null) {
      return { kind: "shipAgent", ship: agentOf, atRepos: pathSegments(rawTarget)[0] === "repos" };
    }
    const ship = await shipCredentials.shipOfToken(token);
    return ship === null ? anonymous : { kind: "ship", ship };
  }
}

function ofUser({ user, hash }: Session) {
  const { id, username, email, role } = user;
  return { userId: id, username, email, role, sessionHash: hash };
}

/** The request's bearer token, or null; what is longer than any of ours is nobody's. */
export function bearerOf(headers: Headers): string | null {
  const token = bearerToken(headers);
  return token === null || token.length > tokenCharactersMax ? null : token;
}

function ticketOf(rawTarget: string): string | null {
  return new URLSearchParams(rawQuery(rawTarget)).get("ticket");
}
