/** What the bridge is told by flags and environment. The only file of the bridge that reads either. */

import {
  directoryFlag,
  logFormatFlag,
  readFlags,
  urlFlag,
  UsageError,
} from "../shared/host/flags.ts";
import { childEnvironment, env, takeSecret } from "../shared/host/lifecycle.ts";
import type { AdminVariables } from "./auth/first_admin.ts";
import { limits } from "../shared/limits.ts";
import type { LogFormat } from "../shared/log.ts";

export interface BridgeConfig {
  readonly hostname: string;
  readonly port: number;
  /** As given; null: `http://localhost:<port>`, known once the port is. */
  readonly publicUrl: string | null;
  readonly dataDirectory: string;
  readonly sweepIntervalMs: number;
  readonly insecureNoAuth: boolean;
  readonly allowedOrigins: readonly string[];
  /** Link-local addresses are refused as ship URLs unless this is on. */
  readonly allowLinkLocal: boolean;
  readonly logFormat: LogFormat | null;
  readonly github: {
    /** Null: issues, pull requests and checks of GitHub repos answer 401. */
    readonly token: string | null;
    /** Without a trailing slash. */
    readonly apiUrl: string;
  };
  readonly environment: Readonly<Record<string, string>>;
  /** The first admin's three variables, read only when there is no admin. */
  readonly admin: AdminVariables;
  /** Where the launcher that started this bridge left its request; null: nobody launched it. */
  readonly launchFile: string | null;
}

export const bridgeFlags = {
  values: [
    "port",
    "hostname",
    "public-url",
    "data-dir",
    "sweep-interval-ms",
    "allow-origin",
    "log-format",
    "launch-file",
  ],
  switches: ["insecure-no-auth", "allow-link-local"],
  environmentPrefix: "GRID_BRIDGE_",
} as const;

/** Reads flags and twins. Throws `UsageError`. */
export function readBridgeConfig(args: readonly string[]): BridgeConfig {
  const flags = readFlags(bridgeFlags, args, env);
  return {
    hostname: flags.text("hostname") ?? "127.0.0.1",
    port: flags.integer("port", 0, 65_535) ?? limits.bridgePort,
    publicUrl: urlFlag(flags, "public-url")?.href.replace(/\/+$/, "") ?? null,
    dataDirectory: directoryFlag(flags, "data-dir", {
      xdg: env("XDG_DATA_HOME"),
      home: env("HOME"),
      fallback: ".local/share",
      tail: "grid",
    }),
    sweepIntervalMs: flags.integer("sweep-interval-ms", 1_000, 24 * 3_600_000) ??
      limits.sweepIntervalMs,
    // The interface names this twin itself, so it does not follow the prefix rule.
    insecureNoAuth: flags.on("insecure-no-auth") || env("GRID_INSECURE_NO_AUTH") === "1",
    allowedOrigins: flags.list("allow-origin"),
    allowLinkLocal: flags.on("allow-link-local"),
    logFormat: logFormatFlag(flags),
    github: {
      token: takeSecret("GRID_GITHUB_TOKEN") ?? null,
      apiUrl: githubApiUrl(env("GRID_GITHUB_API_URL")),
    },
    environment: childEnvironment(),
    admin: {
      username: takeSecret("GRID_BRIDGE_ADMIN_USER"),
      email: takeSecret("GRID_BRIDGE_ADMIN_EMAIL"),
      password: takeSecret("GRID_BRIDGE_ADMIN_PASSWORD"),
    },
    launchFile: flags.text("launch-file") ?? null,
  };
}

/** Default: github.com's; an Enterprise Server's is `https://<host>/api/v3`. */
function githubApiUrl(text: string | undefined): string {
  if (text === undefined || text === "") return "https://api.github.com";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === "") {
    return url.href.replace(/\/+$/, "");
  }
  throw new UsageError("GRID_GITHUB_API_URL must be a URL such as https://host.example/api/v3");
}
