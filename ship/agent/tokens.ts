/** Opaque MCP tokens: each opens its own workspace's endpoint, for as long as the workspace is active. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type WorkspaceId, type WorkspaceKey, workspaceKey } from "../../shared/ids.ts";

interface Binding {
  readonly id: WorkspaceId;
  readonly digest: Uint8Array;
}

const tokenBytes = 32;

/**
 * The bindings of token to workspace, in memory alone; of a token only its sha256 is kept. A restarted
 * ship knows none of the tokens of the sessions that outlived it.
 */
export class AgentTokens {
  readonly #byDigest = new Map<string, Binding>();
  readonly #digestOf = new Map<WorkspaceKey, string>();

  /** A new token for the workspace (32 random bytes, base64url); the one before is void from now on. */
  mint(id: WorkspaceId): string {
    const token = crypto.getRandomValues(new Uint8Array(tokenBytes)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    });
    const digest = sha256(token);
    this.revoke(id);
    this.#byDigest.set(digest.toHex(), { id, digest });
    this.#digestOf.set(workspaceKey(id), digest.toHex());
    return token;
  }

  /** Voids the workspace's token; fine when it has none. */
  revoke(id: WorkspaceId): void {
    const digest = this.#digestOf.get(workspaceKey(id));
    if (digest === undefined) return;
    this.#digestOf.delete(workspaceKey(id));
    this.#byDigest.delete(digest);
  }

  /** The workspace that the token opens, or null. */
  verify(token: string): WorkspaceId | null {
    // Looking up by digest tells a guesser nothing of the token; the comparison after it is the check.
    const digest = sha256(token);
    const binding = this.#byDigest.get(digest.toHex());
    return binding !== undefined && timingSafeEqual(binding.digest, digest) ? binding.id : null;
  }
}

/** Synchronous, unlike WebCrypto: minting must be one step, and a token is short. */
function sha256(text: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
