/** Bearer credentials (RFC 6750) and their comparison. */

/** The token of `Authorization: Bearer <token>`, or null. */
export function bearerToken(headers: Headers): string | null {
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(headers.get("authorization") ?? "");
  return match?.[1] ?? null;
}

/** Whether two secrets are equal, in a time that depends on neither: their digests are compared whole. */
export async function sameSecret(given: string, expected: string): Promise<boolean> {
  const [a, b] = await Promise.all([digest(given), digest(expected)]);
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
