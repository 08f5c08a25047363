/**
 * Which clone URLs are taken, and what of them git gets to see (hardening 2 and 9). Parsing is strict
 * because git's own is not: `ext::sh -c …` runs a program, `-u…` is an option, `ssh://-oProxyCommand=…`
 * is one of ssh's.
 */

export const cloneProtocols = ["https", "http", "ssh", "git", "file"] as const;
export type CloneProtocol = (typeof cloneProtocols)[number];

/** A user name and password (or token) that stood in an http(s) URL. */
export interface Credential {
  readonly username: string;
  readonly password: string;
}

/** A clone URL that passed the policy. Only `parseCloneUrl` makes one. */
export interface CloneUrl {
  readonly protocol: CloneProtocol;
  /** What git is given: the URL without an http(s) userinfo. Goes behind `--`. */
  readonly forGit: string;
  /** What people and logs are shown: without userinfo, query and fragment. */
  readonly shown: string;
  /** `https://host[:port]`, for scoping a credential; null for other protocols. */
  readonly origin: string | null;
  readonly credential: Credential | null;
}

export type ParsedCloneUrl =
  | { readonly ok: true; readonly url: CloneUrl }
  | { readonly ok: false; readonly why: string };

const urlCharactersMax = 4096;
const refused = (why: string): ParsedCloneUrl => ({ ok: false, why });

/**
 * Reads a clone URL: `https`, `http`, `ssh`, `git`, `file`, the scp form `[user@]host:path` or an
 * absolute path, as far as `allowed` has their protocols. Never quotes the input in `why`: it may hold
 * a secret.
 */
export function parseCloneUrl(
  text: string,
  allowed: readonly CloneProtocol[] = cloneProtocols,
): ParsedCloneUrl {
  const broken = brokenText(text);
  if (broken !== null) return refused(broken);
  const parsed = parseForm(text);
  if (parsed.ok && !allowed.includes(parsed.url.protocol)) {
    return refused(`the protocol ${parsed.url.protocol} is not allowed here`);
  }
  return parsed;
}

function brokenText(text: string): string | null {
  if (text === "") return "the clone URL must not be empty";
  if (text.length > urlCharactersMax) return `the clone URL is over ${urlCharactersMax} characters`;
  if (!text.isWellFormed()) return "the clone URL must be well-formed Unicode";
  // deno-lint-ignore no-control-regex -- control characters are exactly what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) {
    return "the clone URL must not contain control characters";
  }
  if (text !== text.trim()) return "the clone URL must not begin or end with white space";
  if (text.startsWith("-")) return "the clone URL must not begin with a dash";
  // `<helper>::<address>`: git would run git-remote-<helper>.
  if (/^[A-Za-z0-9+.-]*::/.test(text)) return "remote helpers (<helper>::…) are not allowed";
  return null;
}

function parseForm(text: string): ParsedCloneUrl {
  if (text.startsWith("/")) return accepted("file", text);
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1];
  if (scheme !== undefined) return parseSchemed(scheme, text);
  return parseScp(text);
}

function parseSchemed(scheme: string, text: string): ParsedCloneUrl {
  switch (scheme) {
    case "https":
    case "http":
      return parseHttp(scheme, text);
    case "ssh":
      return parseSsh(text);
    case "git":
      return parseGit(text);
    case "file":
      return parseFile(text);
    default:
      return refused(
        `the clone URL must be https, http, ssh, git or file (in small letters), ` +
          `the form host:path or an absolute path`,
      );
  }
}

function parseHttp(protocol: "http" | "https", text: string): ParsedCloneUrl {
  if (!URL.canParse(text) || text.includes("\\") || text.includes(" ")) {
    return refused("the clone URL cannot be parsed");
  }
  const url = new URL(text);
  if (url.hash !== "") return refused("the clone URL must not contain a fragment");
  const credential = credentialOf(url);
  if (credential === "broken") return refused("the clone URL's user part is not valid");
  url.username = "";
  url.password = "";
  const forGit = url.href;
  url.search = "";
  return {
    ok: true,
    url: { protocol, forGit, shown: url.href, origin: url.origin, credential },
  };
}

function credentialOf(url: URL): Credential | null | "broken" {
  if (url.username === "" && url.password === "") return null;
  try {
    const username = decodeURIComponent(url.username);
    const password = decodeURIComponent(url.password);
    // A control character would end the header line; a colon would end the user name early.
    // deno-lint-ignore no-control-regex -- control characters are exactly what is looked for
    const unfit = /[\u0000-\u001f\u007f-\u009f]/;
    if (unfit.test(username) || unfit.test(password) || username.includes(":")) return "broken";
    return { username, password };
  } catch {
    return "broken";
  }
}

// A host as ssh and git take one: a name, an IPv4 address or a bracketed IPv6 address.
const host = String.raw`(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*)|\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9]+)?\])`;
const user = String.raw`[A-Za-z0-9_.+](?:[A-Za-z0-9_.+%~-]*)`;
const sshForm = new RegExp(String.raw`^ssh://(?:${user}@)?${host}(?::\d{1,5})?(/.+)$`);
const gitForm = new RegExp(String.raw`^git://${host}(?::\d{1,5})?(/.+)$`);
const scpForm = new RegExp(String.raw`^(?:${user}@)?${host}:(.+)$`);

function parseSsh(text: string): ParsedCloneUrl {
  // git would hand `user:password@host` to ssh as an argument, for every process to read.
  if (/^ssh:\/\/[^/@]*:[^/]*@/.test(text)) {
    return refused("an ssh URL must not contain a password: use a key");
  }
  const path = sshForm.exec(text)?.[1];
  if (path === undefined) return refused("the ssh URL must be ssh://[user@]host[:port]/path");
  if (path.startsWith("/-")) return refused("the ssh URL's path must not begin with a dash");
  return accepted("ssh", text);
}

function parseGit(text: string): ParsedCloneUrl {
  return gitForm.test(text)
    ? accepted("git", text)
    : refused("the git URL must be git://host[:port]/path");
}

function parseFile(text: string): ParsedCloneUrl {
  return /^file:\/\/\/[^/]/.test(text)
    ? accepted("file", text)
    : refused("the file URL must be file:///path");
}

// `https:x` is a slip, not a host called https.
const schemeAsHost = /^(https?|file|ftps?|data|javascript|ext|fd):/i;

function parseScp(text: string): ParsedCloneUrl {
  const path = schemeAsHost.test(text) ? undefined : scpForm.exec(text)?.[1];
  if (path === undefined || path.includes("\\")) {
    return refused(
      "the clone URL must be https, http, ssh, git or file, the form host:path or an absolute path",
    );
  }
  if (path.startsWith("-")) return refused("the path must not begin with a dash");
  // `user:secret@host:path` would be taken as the host `user`, and shown everywhere.
  if (/^[^/]*@[^/]*:/.test(path)) return refused("the form host:path must not contain a password");
  return accepted("ssh", text);
}

function accepted(protocol: CloneProtocol, text: string): ParsedCloneUrl {
  return {
    ok: true,
    url: { protocol, forGit: text, shown: text, origin: null, credential: null },
  };
}
