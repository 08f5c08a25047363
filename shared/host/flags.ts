/** Flags and their environment twins, read into plain values: what both `config.ts` files stand on. */
import { isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { LogFormat } from "../log.ts";

/** A flag that is wrong: the message says which, why, and what it takes. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface FlagSource {
  /** The last value given, else the environment twin's, else undefined. */
  text(flag: string): string | undefined;
  /** Every value given; the twin's is split at commas. */
  list(flag: string): readonly string[];
  /** True when the switch is given. */
  on(flag: string): boolean;
  /** An integer from `min` to `max`; throws `UsageError` for anything else. */
  integer(flag: string, min: number, max: number): number | undefined;
}

export interface FlagTable {
  /** Flags that take a value, by name without dashes. */
  readonly values: readonly string[];
  readonly switches: readonly string[];
  /** The twin of `--some-flag` is `<prefix>SOME_FLAG`. */
  readonly environmentPrefix: string;
}

/** Reads `args` by `table`; `env` gives a variable. Throws `UsageError` on an unknown or incomplete flag. */
export function readFlags(
  table: FlagTable,
  args: readonly string[],
  env: (name: string) => string | undefined,
): FlagSource {
  const options = Object.fromEntries([
    ...table.values.map((name) => [name, { type: "string", multiple: true }] as const),
    ...table.switches.map((name) => [name, { type: "boolean", multiple: true }] as const),
  ]);
  let given: Record<string, unknown>;
  try {
    given = parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (thrown) {
    throw new UsageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
  const twin = (flag: string) =>
    env(table.environmentPrefix + flag.replaceAll("-", "_").toUpperCase());
  const list = (flag: string): readonly string[] => {
    const values = given[flag] as readonly string[] | undefined;
    return values ?? twin(flag)?.split(",").map((part) => part.trim()) ?? [];
  };
  const text = (flag: string) =>
    (given[flag] as readonly string[] | undefined)?.at(-1) ?? twin(flag);
  return {
    text,
    list,
    on: (flag) => given[flag] !== undefined || ["1", "true"].includes(twin(flag) ?? ""),
    integer(flag, min, max) {
      const value = text(flag);
      if (value === undefined) return undefined;
      const number = /^[0-9]{1,15}$/.test(value) ? Number(value) : NaN;
      if (number >= min && number <= max) return number;
      throw new UsageError(
        `--${flag} must be a whole number from ${min} to ${max}, not "${value}"`,
      );
    },
  };
}

/** `--log-format`: json or human; null leaves it to whether standard error is a terminal. */
export function logFormatFlag(flags: FlagSource): LogFormat | null {
  const text = flags.text("log-format");
  if (text === undefined || text === "json" || text === "human") return text ?? null;
  throw new UsageError(`--log-format takes json or human, not "${text}"`);
}

/** A flag that holds an http(s) URL; null when it is not given. */
export function urlFlag(flags: FlagSource, flag: string): URL | null {
  const text = flags.text(flag);
  if (text === undefined) return null;
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return new URL(text);
  throw new UsageError(`--${flag} must be an http or https URL, not "${text}"`);
}

/**
 * A directory from `flag`, else below the XDG variable, else below HOME (XDG Base Directory Specification:
 * a relative XDG path is ignored). `tail` is what comes after the base.
 */
export function directoryFlag(
  flags: FlagSource,
  flag: string,
  base: {
    readonly xdg: string | undefined;
    readonly home: string | undefined;
    readonly fallback: string;
    readonly tail: string;
  },
): string {
  const given = flags.text(flag);
  if (given !== undefined) return resolve(given);
  if (base.xdg !== undefined && isAbsolute(base.xdg)) return join(base.xdg, base.tail);
  if (base.home === undefined) throw new UsageError(`HOME is not set: give --${flag}`);
  return join(base.home, base.fallback, base.tail);
}
