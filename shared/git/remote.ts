/** Calls to a remote, as values for a command lane; and what git said, fit to be shown. Pure. */
import { displayText } from "../ids.ts";
import { redactUrl } from "../log.ts";
import {
  configurationEnvironment,
  credentialConfiguration,
  type GitConfiguration,
  type GitEnvironment,
  networkConfiguration,
} from "./environment.ts";
import type { CloneUrl, Credential } from "./url.ts";

/** Arguments and further environment of one git call. */
export interface GitCall {
  readonly args: readonly string[];
  readonly env: GitEnvironment;
}

/**
 * `ls-remote` of a URL; `patterns` narrow what is sent (a pattern also matches longer names: compare
 * exactly). To be run in a directory outside any repository, such as `/`.
 */
export function listRemoteCall(
  url: CloneUrl,
  patterns: readonly string[] = [],
  configuration: GitConfiguration = [],
): GitCall {
  return {
    args: ["ls-remote", "--symref", "--", url.forGit, ...patterns],
    env: remoteEnvironment(url, configuration),
  };
}

/** The configuration of a network call to `url`, its credential included, as environment. */
export function remoteEnvironment(
  url: CloneUrl,
  configuration: GitConfiguration = [],
): GitEnvironment {
  return configurationEnvironment([
    ...networkConfiguration,
    ...credentialConfiguration(url),
    ...configuration,
  ]);
}

const reasonCharactersMax = 500;
// `Receiving objects:  42% (21/50)`, `remote: Counting objects: 50, done.` and the like say nothing.
const noise =
  /^(Cloning into |hint: |warning: |(remote: )?[A-Z][a-z]+ [a-z]+: +\d|remote: (Total|Enumerating|Counting|Compressing) |Please make sure you have|and the repository exists)/;

/** git's standard error as one line for people: no progress, no secrets, nothing a terminal obeys. */
export function reasonOf(stderr: string, credential: Credential | null = null): string {
  const lines = stderr.split(/[\r\n]+/).map((line) => line.trim())
    .filter((line) => line !== "" && !noise.test(line));
  const line = displayText(withoutSecrets(redactUrl(lines.join(" ")), credential));
  const plain = line.replace(/^(fatal|error): /, "");
  return plain === ""
    ? "git gave no reason"
    : plain.length > reasonCharactersMax
    ? `${plain.slice(0, reasonCharactersMax)}…`
    : plain;
}

function withoutSecrets(text: string, credential: Credential | null): string {
  if (credential === null) return text;
  // A token may stand in either place, and may come back percent-encoded.
  const secrets = [credential.password, credential.username]
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}
