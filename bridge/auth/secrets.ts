/** Random secrets and the hashes under which they are stored. */

const secretBytes = 32;

/** 32 random bytes in base64url: a session token, a ticket, one of a ship's tokens, an agent token. */
export function newSecret(): string {
  return crypto.getRandomValues(new Uint8Array(secretBytes))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** sha256 of `secret` in lowercase hex: the only form in which most secrets are ever stored. */
export async function secretHash(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  return new Uint8Array(digest).toHex();
}

/** Compares in a time that depends on the length alone. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) {
    difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  }
  return difference === 0;
}

/** `equalBytes` of two hex hashes. */
export function equalHashes(a: string, b: string): boolean {
  const encoder = new TextEncoder();
  return equalBytes(encoder.encode(a), encoder.encode(b));
}
