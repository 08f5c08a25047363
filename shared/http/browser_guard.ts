/**
 * What a browser may ask of a daemon that stands on somebody's own machine. Three headers that a page
 * cannot forge tell where a request comes from: `Origin` and `Sec-Fetch-Site` (Fetch standard), and
 * `Host`, which under DNS rebinding names the attacker's domain while the connection goes to loopback.
 * Programs that are no browsers send neither of the first two, and pass.
 */
import { fail } from "../errors.ts";

/** Whom a daemon lets in. Make one with `browserRules`. */
export interface BrowserRules {
  /** Serialised origins (`http://localhost:4800`), lower case. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** `host:port` in lower case, the port left out when it is 80; null: any Host passes. */
  readonly allowedHosts: ReadonlySet<string> | null;
}

/** What the rules are made from. */
export interface BrowserRulesOptions {
  /** The URL under which people reach the daemon; a ship has none. */
  readonly publicUrl: string | null;
  /** Further origins of the operator. Throws `TypeError` when one is no URL. */
  readonly origins?: readonly string[];
  /** The address that the daemon listens on. */
  readonly hostname: string;
  readonly port: number;
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The rules of a daemon: the public URL and the operator's origins, and on loopback every loopback name
 * with the daemon's port. The Host is checked on loopback only; elsewhere a proxy may have renamed it.
 */
export function browserRules(options: BrowserRulesOptions): BrowserRules {
  const named = [...options.publicUrl === null ? [] : [options.publicUrl], ...options.origins ?? []]
    .map((url) => new URL(url));
  const loopback = isLoopback(options.hostname);
  const local = loopback
    ? [...loopbackNames, bracketed(options.hostname)].map((name) =>
      new URL(`http://${name}:${options.port}`)
    )
    : [];
  const urls = [...named, ...local];
  return {
    allowedOrigins: new Set(urls.map((url) => url.origin)),
    allowedHosts: loopback ? new Set(urls.map((url) => url.host)) : null,
  };
}

/**
 * Lets a request pass or throws `originRefused`, `crossSiteRefused` or `hostRefused`. An absent header
 * passes; `Origin: null` (a sandboxed frame, a file) and what is no origin at all do not.
 */
export function checkBrowser(headers: Headers, rules: BrowserRules): void {
  const host = headers.get("host");
  if (host !== null && rules.allowedHosts !== null && !rules.allowedHosts.has(plainHost(host))) {
    throw fail("hostRefused", { host: shown(host) });
  }
  const origin = headers.get("origin");
  if (origin !== null && !rules.allowedOrigins.has(origin.toLowerCase())) {
    throw fail("originRefused", { origin: shown(origin) });
  }
  if (headers.get("sec-fetch-site")?.trim().toLowerCase() === "cross-site") {
    throw fail("crossSiteRefused");
  }
}

/** True for the names and addresses that only this machine reaches. */
export function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare);
}

const bracketed = (hostname: string) =>
  hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;

const plainHost = (host: string) => host.trim().toLowerCase().replace(/:80$/, "");

/** A header as an error may quote it: a stranger wrote it. */
const shown = (text: string) => text.replaceAll(/[^\x21-\x7e]/g, "?").slice(0, shownCharactersMax);
const shownCharactersMax = 200;
