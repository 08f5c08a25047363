/** How a workspace's tmux session is called. */
import type { WorkspaceId } from "../../shared/ids.ts";

/** The socket name of the interface: every ship of a user on a host shares it (`tmux -L grid-ship`). */
export const socketNameDefault = "grid-ship";

/** What a session name of ours looks like, whole. */
export const sessionNamePattern = /^ws-[0-9a-f]{64}$/;

/** The encoding's version: another encoding must never give a name that an older ship made. */
const encodingTag = "grid-workspace-session-1";

/**
 * `ws-<sha256 hex>` of the pair. The hash is over tag, repo and name, each behind its length in UTF-8
 * bytes (32 bits, big-endian), so that different pairs never give the same input. The result holds
 * nothing that tmux, its formats or a shell could read as more than a word.
 */
export async function sessionName(id: WorkspaceId): Promise<string> {
  const parts = [encodingTag, id.repoName, id.name];
  const digest = await crypto.subtle.digest("SHA-256", lengthPrefixed(parts));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return `ws-${hex.join("")}`;
}

function lengthPrefixed(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoded = parts.map((part) => new TextEncoder().encode(part));
  const whole = new Uint8Array(encoded.reduce((sum, bytes) => sum + 4 + bytes.length, 0));
  const view = new DataView(whole.buffer);
  let offset = 0;
  for (const bytes of encoded) {
    view.setUint32(offset, bytes.length);
    whole.set(bytes, offset + 4);
    offset += 4 + bytes.length;
  }
  return whole;
}
