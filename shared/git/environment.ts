/** The environment that every git of ours runs with (hardening 1, 2 and 9). Pure: values in, values out. */
import type { CloneProtocol, CloneUrl } from "./url.ts";

export interface GitEnvironmentOptions {
  /** What git may speak; an empty list forbids every transport, lazy fetches of a clone included. */
  readonly protocols: readonly CloneProtocol[];
  /** Where git stops looking upwards for a repository (absolute). */
  readonly ceilingDirectories?: readonly string[];
  /** Further ssh options of the operator, such as `-i /path/key`, as a shell would read them. */
  readonly sshOptions?: string;
}

export type GitEnvironment = Readonly<Record<string, string>>;
export type GitConfiguration = readonly (readonly [key: string, value: string])[];

/** What is fixed for every git, whatever it does. Goes on top of the lane's cleared environment. */
export function gitEnvironment(options: GitEnvironmentOptions): GitEnvironment {
  const ssh = ["ssh -oBatchMode=yes", options.sshOptions ?? ""].join(" ").trim();
  return {
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_SSH_COMMAND: ssh,
    GIT_SSH_VARIANT: "ssh",
    LC_ALL: "C",
    GIT_PAGER: "cat",
    GIT_EDITOR: "false",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    // An unset list means git's defaults; a list of one impossible name means none at all.
    GIT_ALLOW_PROTOCOL: options.protocols.length === 0 ? "none" : options.protocols.join(":"),
    ...(options.ceilingDirectories === undefined
      ? {}
      : { GIT_CEILING_DIRECTORIES: options.ceilingDirectories.join(":") }),
  };
}

/**
 * `pairs` as configuration of the highest precedence, carried by the environment: it stands in no
 * argument list and in no file (git-config(1), GIT_CONFIG_COUNT).
 */
export function configurationEnvironment(pairs: GitConfiguration): GitEnvironment {
  const environment: Record<string, string> = { GIT_CONFIG_COUNT: String(pairs.length) };
  pairs.forEach(([key, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return environment;
}

/** Configuration of a call over the network: no template, no hooks, and nothing asked of a person. */
export const networkConfiguration: GitConfiguration = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["init.templateDir", ""],
  ["protocol.ext.allow", "never"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["transfer.credentialsInUrl", "die"],
];

/**
 * The URL's credential as configuration: a header for its origin only. Redirects are refused then,
 * because git would send the header to wherever the first answer points.
 */
export function credentialConfiguration(url: CloneUrl): GitConfiguration {
  if (url.credential === null || url.origin === null) return [];
  const { username, password } = url.credential;
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  const basic = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return [
    ["credential.helper", ""],
    [`http.${url.origin}/.extraHeader`, `Authorization: Basic ${basic}`],
    ["http.followRedirects", "false"],
  ];
}

/** Ends a transfer that has not moved for `stallMs` (http only; git-config(1), http.lowSpeedTime). */
export function stallConfiguration(stallMs: number): GitConfiguration {
  return [
    ["http.lowSpeedLimit", "1"],
    ["http.lowSpeedTime", String(Math.ceil(stallMs / 1000))],
  ];
}
