/** Who may call a ship (interface, "Ship and bridge token pair", rules 4, 5 and 7). */
import { fail } from "../shared/errors.ts";
import { type BrowserRules, checkBrowser } from "../shared/http/browser_guard.ts";
import { bearerToken, sameSecret } from "../shared/http/bearer.ts";
import type { Gate } from "../shared/http/router.ts";
import type { WorkspaceId } from "../shared/ids.ts";

/**
 * `bridge`: presented the bridge's token. `agent`: presented the MCP token of its workspace. `anyone`: this
 * ship has no token, so it asks for none.
 */
export type ShipPrincipal =
  | { readonly kind: "bridge" }
  | { readonly kind: "agent"; readonly workspace: WorkspaceId }
  | { readonly kind: "anyone" };

export interface ShipGateOptions {
  /** What the bridge presents; null: every route answers anyone. */
  readonly bridgeToken: string | null;
  readonly browser: () => BrowserRules;
  /** The workspace whose agent holds `token`, or null. */
  readonly workspaceOf: (token: string) => WorkspaceId | null;
}

/** The ship's gate: origin and host first, then the credential, then what it may reach. */
export function shipGate(options: ShipGateOptions): Gate<ShipPrincipal> {
  return {
    async identify(request) {
      checkBrowser(request.headers, options.browser());
      if (options.bridgeToken === null) return { kind: "anyone" };
      const token = bearerToken(request.headers);
      if (token === null) throw fail("unauthorized");
      if (await sameSecret(token, options.bridgeToken)) return { kind: "bridge" };
      const workspace = options.workspaceOf(token);
      if (workspace === null) throw fail("unauthorized");
      return { kind: "agent", workspace };
    },
    authorize(principal, endpoint, params) {
      switch (principal.kind) {
        case "anyone":
        case "bridge":
          return;
        case "agent": {
          const { repoName, name } = principal.workspace;
          const own = params["repo"] === repoName && params["name"] === name;
          if (endpoint?.audience !== "agent" || !own) throw fail("wrongCredential");
        }
      }
    },
  };
}
