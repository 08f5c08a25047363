/** What the launcher reports while it runs: one value for people and programs alike. */
import type { Paint } from "../cli/output.ts";
import { displayText } from "../../shared/ids.ts";

export type Notice =
  | { readonly kind: "started"; readonly daemon: string; readonly url: string }
  | { readonly kind: "registered"; readonly ship: string; readonly url: string }
  /** The roster knew the name at another URL. */
  | {
    readonly kind: "moved";
    readonly ship: string;
    readonly url: string;
    readonly before: string;
  }
  | {
    readonly kind: "died";
    readonly daemon: string;
    readonly how: string;
    readonly lastLine: string;
    readonly restartMs: number;
  }
  | { readonly kind: "restarted"; readonly daemon: string; readonly url: string }
  | {
    readonly kind: "log";
    readonly daemon: string;
    readonly level: string;
    readonly text: string;
  };

/** One line for people, without its newline. */
export function noticeText(notice: Notice, paint: Paint): string {
  switch (notice.kind) {
    case "started":
      return `${paint("green", "✓")} ${notice.daemon} at ${notice.url}`;
    case "registered":
      return `${paint("green", "✓")} ship ${notice.ship} is registered with the bridge`;
    case "moved":
      return `${paint("yellow", "!")} ship ${notice.ship} was registered at ${notice.before}: ` +
        `it is now at ${notice.url}`;
    case "died": {
      const why = notice.lastLine === "" ? "" : `: ${displayText(notice.lastLine)}`;
      return `${paint("red", "✗")} ${notice.daemon} died (${notice.how})${why}; ` +
        `starting it again in ${(notice.restartMs / 1000).toFixed(1)} s`;
    }
    case "restarted":
      return `${paint("green", "✓")} ${notice.daemon} is back at ${notice.url}`;
    case "log": {
      const name = paint("dim", `${notice.daemon}:`);
      return `  ${name} ${displayText(notice.text)}`;
    }
  }
}

/**
 * A line of a daemon's log as level and text. Daemons whose standard error is no terminal write JSON
 * (`{at, level, message, …}`); anything else (a crash) is an error, as it stands.
 */
export function readLogLine(line: string): { readonly level: string; readonly text: string } {
  try {
    const { at: _at, level, message, ...rest } = JSON.parse(line) as Record<string, unknown>;
    if (typeof level === "string" && typeof message === "string") {
      const fields = Object.entries(rest).map(([name, value]) =>
        ` ${name}=${JSON.stringify(value)}`
      );
      return { level, text: message + fields.join("") };
    }
  } catch {
    // Not JSON: a human-readable log, or what a dying program says.
  }
  const level = /^\d\d:\d\d:\d\d (info|warn|error)\b/.exec(line)?.[1];
  return { level: level ?? "error", text: line };
}
