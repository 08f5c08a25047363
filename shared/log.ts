/**
 * The log: one line per event, human-readable or JSON. What reaches it has been redacted by whoever
 * writes it; URLs go through `redactUrl`, secrets never come here.
 */
export type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFormat = "human" | "json";

/** A log that hands each finished line (without its newline) to `write`. */
export function createLog(
  format: LogFormat,
  write: (line: string) => void,
  now: () => Date = () => new Date(),
): Log {
  const line = (level: LogLevel) => (message: string, fields: LogFields = {}) =>
    write(
      format === "json"
        ? JSON.stringify({ at: now().toISOString(), level, message, ...fields })
        : humanLine(now(), level, message, fields),
    );
  return { info: line("info"), warn: line("warn"), error: line("error") };
}

function humanLine(at: Date, level: LogLevel, message: string, fields: LogFields): string {
  const time = at.toISOString().slice(11, 19);
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  // A message may quote what a stranger sent: a newline must not forge a second line.
  return `${time} ${level.padEnd(5)} ${message.replaceAll(/[\r\n]+/g, " ")}${rest.join("")}`;
}

export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** `text` with the userinfo and query of every URL in it left out, scp forms (`user:secret@host:`) too. */
export function redactUrl(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@'"]*@/gi, "$1")
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^\s?#'"]*)[?#][^\s'"]*/gi, "$1")
    .replace(/(^|[\s'"])([^\s@:/'"]+):[^\s@/'"]+@([^\s:/'"]+:)/g, "$1$2@$3");
}
