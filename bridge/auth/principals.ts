/** Who asks. */
import type { ShipName } from "../../shared/ids.ts";
import type { Role } from "../../shared/schema/auth.ts";

/** A user as a credential showed them. */
interface OfUser {
  readonly userId: string;
  readonly username: string;
  readonly email: string;
  readonly role: Role;
  readonly sessionHash: string;
}

export type Principal =
  /** No credential, or one that nobody was given. */
  | { readonly kind: "anonymous" }
  /** Every request of a bridge without authentication; counts as an admin. */
  | { readonly kind: "insecure" }
  | { readonly kind: "user" } & OfUser
  /** A user on a WebSocket, by a ticket that is now used up. */
  | {
    readonly kind: "ticket";
    readonly sessionExpiresAtMs: number;
    /** The user's revocations seen before the ticket was checked; see `LiveSockets`. */
    readonly revocationMark: number;
  } & OfUser
  | { readonly kind: "ship"; readonly ship: ShipName }
  | {
    readonly kind: "shipAgent";
    readonly ship: ShipName;
    /** The request's path is `/repos` or below it, whether or not there is such a route. */
    readonly atRepos: boolean;
  };

/** The principal in the audit log: its kind, and its name after a slash, which no name contains. */
export function actorName(principal: Principal): string {
  switch (principal.kind) {
    case "anonymous":
      return "anonymous";
    case "insecure":
      return "insecure";
    case "user":
    case "ticket":
      return `user/${principal.username}`;
    case "ship":
      return `ship/${principal.ship}`;
    case "shipAgent":
      return `ship-agent/${principal.ship}`;
  }
}
