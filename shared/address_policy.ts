/** Which addresses a daemon may be sent to call. Pure. */

/**
 * True for a link-local IP address (RFC 3927, RFC 4291 section 2.5.6), IPv4-mapped forms included: cloud
 * hosts answer there with their own credentials.
 */
export function isLinkLocal(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").toLowerCase();
  if (/^169\.254\./.test(bare)) return true;
  if (!bare.includes(":")) return false;
  if (/^fe[89ab][0-9a-f]:/.test(bare)) return true;
  // `::ffff:169.254.1.1`, which a URL writes as `::ffff:a9fe:101`.
  return /^::ffff:(169\.254\.|a9fe:)/.test(bare);
}

/** True when `hostname` is an IP address and no name. */
export function isAddress(hostname: string): boolean {
  return hostname.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}
