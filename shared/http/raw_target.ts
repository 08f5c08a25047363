/**
 * The request target as the client wrote it.
 *
 * `Deno.serve` builds `request.url` by joining `http://`, the Host header and the target without
 * looking at either, so a Host of `x/../y` shifts the path, a Host of `[::1` makes `new URL`
 * throw, and `new URL` has collapsed `%2e%2e` and turned `\` into `/` before anyone could refuse
 * them. Check the Host first, then cut the authority off by hand.
 */

// A name, an IPv4 address or a bracketed IPv6 address, then perhaps a port.
const hostPattern = /^(?:[A-Za-z0-9._~-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{1,5}))?$/;

/** True when a Host header names one host and, perhaps, one port. */
export function isValidHost(host: string | null): boolean {
  const match = host === null ? null : hostPattern.exec(host);
  if (match === null) return false;
  return match[1] === undefined || Number(match[1]) <= 65_535;
}

/**
 * Path and query of a request exactly as sent, e.g. `/a/%2e%2e//b?x=1`; always starts with `/`.
 * `url` is the `request.url` of a request whose Host passed {@link isValidHost}. A target in
 * absolute form (`GET http://host/path`) loses its scheme and authority.
 */
export function rawTargetOf(url: string): string {
  const target = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}
