/**
 * From an argument vector to typed values, by a declarative table. Pure: help, completion and the parser
 * are all derived from the same table, so that none can promise what another does not keep.
 */
import { nearest } from "./nearest.ts";

/** A flag: `boolean` stands alone, the others take a value (`--flag value` or `--flag=value`). */
export interface Flag {
  readonly kind: "boolean" | "text" | "count";
  readonly summary: string;
  /** What the value is called in help. */
  readonly value?: string;
}

export interface Positional {
  readonly summary: string;
  /** May be left out; only the last may. */
  readonly optional?: true;
  /** Takes all that follow, also behind `--`; only the last may. */
  readonly many?: true;
  /** The values it can have, for the parser and for completion. */
  readonly oneOf?: readonly string[];
}

export interface Command {
  readonly summary: string;
  /** In order. */
  readonly positionals?: Readonly<Record<string, Positional>>;
  readonly flags?: Readonly<Record<string, Flag>>;
  readonly examples?: readonly string[];
}

/** Commands by their words: `ls`, `ship add`. */
export type CommandTable = Readonly<Record<string, Command>>;

type FlagValue<F extends Flag> = F["kind"] extends "boolean" ? boolean
  : F["kind"] extends "count" ? number | undefined
  : string | undefined;
type PositionalValue<P extends Positional> = P extends { readonly many: true } ? readonly string[]
  : P extends { readonly optional: true } ? string | undefined
  : string;

/** What a command's handler gets. */
export type ValuesOf<C extends Command> =
  & (C["positionals"] extends Readonly<Record<string, Positional>>
    ? { readonly [K in keyof C["positionals"]]: PositionalValue<C["positionals"][K]> }
    : Record<never, never>)
  & (C["flags"] extends Readonly<Record<string, Flag>>
    ? { readonly [K in keyof C["flags"]]: FlagValue<C["flags"][K]> }
    : Record<never, never>);

/** Checks a table while keeping its literal types. */
export function commands<const Table extends CommandTable>(table: Table): Table {
  return table;
}

/** Flags that every command takes. */
export const globalFlags = {
  json: { kind: "boolean", summary: "print JSON instead of text" },
  url: { kind: "text", value: "URL", summary: "the bridge (default $GRID_BRIDGE_URL)" },
  "no-color": { kind: "boolean", summary: "no colour, also on a terminal" },
  help: { kind: "boolean", summary: "show help" },
} as const satisfies Record<string, Flag>;

export interface GlobalValues {
  readonly json: boolean;
  readonly url: string | undefined;
  readonly noColor: boolean;
}

export type Parsed =
  | {
    readonly kind: "command";
    readonly name: string;
    readonly values: Readonly<Record<string, unknown>>;
    readonly globals: GlobalValues;
  }
  /** `topic` is a command, a noun with several (`ship`), or null for the whole. */
  | { readonly kind: "help"; readonly topic: string | null; readonly globals: GlobalValues }
  | { readonly kind: "usage"; readonly message: string; readonly globals: GlobalValues };

/** Something that the parser must say; becomes `{kind: "usage"}`. */
class UsageProblem extends Error {}

interface Found {
  readonly name: string;
  /** The arguments without the command's words. */
  readonly rest: readonly string[];
}

/** Parses `argv` (without the program's name). */
export function parseArguments(table: CommandTable, argv: readonly string[]): Parsed {
  const globals = scanGlobals(argv);
  try {
    const found = findCommand(table, argv);
    if (found.kind === "help") return { kind: "help", topic: found.topic, globals };
    const { flags, words } = readTokens(table, found);
    if (flags["help"] === true) return { kind: "help", topic: found.name, globals };
    const values = { ...flags, ...readPositionals(table, found.name, words) };
    return {
      kind: "command",
      name: found.name,
      values,
      globals: {
        json: flags["json"] === true,
        url: flags["url"] as string | undefined,
        noColor: flags["no-color"] === true,
      },
    };
  } catch (thrown) {
    if (thrown instanceof UsageProblem) return { kind: "usage", message: thrown.message, globals };
    throw thrown;
  }
}

/** What can be known of the global flags before a command is: enough to print an error the right way. */
function scanGlobals(argv: readonly string[]): GlobalValues {
  const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  return { json: own.includes("--json"), noColor: own.includes("--no-color"), url: undefined };
}

function findCommand(
  table: CommandTable,
  argv: readonly string[],
): { kind: "help"; topic: string | null } | ({ kind: "command" } & Found) {
  const at = wordPlaces(argv, 2);
  const [first, second] = at.map((place) => argv[place] ?? "");
  const wantsHelp = argv.includes("--help") || argv.includes("-h");
  if (first === undefined) {
    const flag = argv.find((argument) => argument.startsWith("-"));
    if (argv.includes("--version") || argv.includes("-V")) {
      return {
        kind: "command",
        name: "version",
        rest: argv.filter((a) => !/^(--version|-V)$/.test(a)),
      };
    }
    if (flag !== undefined && !wantsHelp && readGlobalName(flag) === null) {
      throw new UsageProblem(`unknown flag ${flag}; \`grid help\` lists the commands`);
    }
    return { kind: "help", topic: null };
  }
  if (first === "help") {
    return { kind: "help", topic: helpTopic(table, argv.slice((at[0] ?? 0) + 1)) };
  }
  const verbs = verbsOf(table, first);
  if (verbs.length === 0) {
    if (!Object.hasOwn(table, first)) throw new UsageProblem(unknownCommand(table, first));
    return { kind: "command", name: first, rest: without(argv, at.slice(0, 1)) };
  }
  const name = `${first} ${second ?? ""}`;
  if (second !== undefined && Object.hasOwn(table, name)) {
    return { kind: "command", name, rest: without(argv, at) };
  }
  if (wantsHelp) return { kind: "help", topic: first };
  const offered = verbs.map((verb) => `\`grid ${first} ${verb}\``).join(", ");
  if (second === undefined) throw new UsageProblem(`\`grid ${first}\` needs a verb: ${offered}`);
  const close = nearest(second, verbs);
  throw new UsageProblem(
    `no command \`grid ${name}\`${
      close === null ? `; there are ${offered}` : `: did you mean \`grid ${first} ${close}\`?`
    }`,
  );
}

function helpTopic(table: CommandTable, rest: readonly string[]): string | null {
  const words = rest.filter((word) => !word.startsWith("-")).slice(0, 2);
  const whole = words.join(" ");
  if (whole === "") return null;
  if (Object.hasOwn(table, whole) || verbsOf(table, whole).length > 0) return whole;
  throw new UsageProblem(unknownCommand(table, whole));
}

function unknownCommand(table: CommandTable, given: string): string {
  const nouns = [
    ...new Set(Object.keys(table).flatMap((name) => [name, name.split(" ")[0] ?? name])),
  ];
  const close = nearest(given, [...nouns, "help"]);
  return `no command \`grid ${given}\`${
    close === null ? "; `grid help` lists them" : `: did you mean \`grid ${close}\`?`
  }`;
}

/** The verbs of a noun (`ship` → ls, add, rm); none when `noun` is a command of its own, or nothing. */
export function verbsOf(table: CommandTable, noun: string): string[] {
  return Object.keys(table).filter((name) => name.startsWith(`${noun} `))
    .map((name) => name.slice(noun.length + 1));
}

/** Where the first words stand, global flags and their values left out. */
function wordPlaces(argv: readonly string[], countMax: number): number[] {
  const places: number[] = [];
  for (let index = 0; index < argv.length && places.length < countMax; index++) {
    const argument = argv[index] ?? "";
    if (argument === "--") break;
    if (!argument.startsWith("-")) places.push(index);
    else if (argument === "--url") index++;
    // A flag of the command itself: what follows it may be its value, so that no verb stands there.
    else if (places.length > 0 && readGlobalName(argument) === null) break;
  }
  return places;
}

function readGlobalName(argument: string): string | null {
  if (argument === "-h") return "help";
  const name = argument.replace(/^--/, "").replace(/=.*$/s, "");
  return argument.startsWith("--") && Object.hasOwn(globalFlags, name) ? name : null;
}

const without = (argv: readonly string[], places: readonly number[]) =>
  argv.filter((_, index) => !places.includes(index));

function readTokens(
  table: CommandTable,
  { name, rest }: Found,
): { flags: Record<string, unknown>; words: string[] } {
  const known: Readonly<Record<string, Flag>> = { ...globalFlags, ...table[name]?.flags };
  const flags: Record<string, unknown> = {};
  for (const [flag, { kind }] of Object.entries(known)) {
    flags[flag] = kind === "boolean" ? false : undefined;
  }
  const words: string[] = [];
  for (let index = 0; index < rest.length; index++) {
    const argument = rest[index] ?? "";
    if (argument === "--") {
      words.push(...rest.slice(index + 1));
      break;
    }
    if (!argument.startsWith("-") || argument === "-") {
      words.push(argument);
      continue;
    }
    const { flag, inline } = splitFlag(argument, known, name);
    const kind = known[flag]?.kind ?? "boolean";
    if (kind === "boolean") {
      if (inline !== undefined) throw new UsageProblem(`--${flag} takes no value`);
      flags[flag] = true;
      continue;
    }
    const value = inline ?? rest[++index];
    if (value === undefined) {
      throw new UsageProblem(`--${flag} needs a value: --${flag} ${known[flag]?.value ?? "VALUE"}`);
    }
    flags[flag] = kind === "count" ? readCount(flag, value) : value;
  }
  return { flags, words };
}

function splitFlag(
  argument: string,
  known: Readonly<Record<string, Flag>>,
  command: string,
): { flag: string; inline: string | undefined } {
  if (argument === "-h") return { flag: "help", inline: undefined };
  const equals = argument.indexOf("=");
  const flag = (equals === -1 ? argument : argument.slice(0, equals)).replace(/^--/, "");
  if (argument.startsWith("--") && Object.hasOwn(known, flag)) {
    return { flag, inline: equals === -1 ? undefined : argument.slice(equals + 1) };
  }
  const close = nearest(flag.replace(/^-+/, ""), Object.keys(known));
  const hint = close === null
    ? `\`grid help ${command}\` lists its flags`
    : `did you mean --${close}?`;
  throw new UsageProblem(
    `\`grid ${command}\` has no flag ${argument.replace(/=.*$/s, "")}: ${hint}`,
  );
}

function readCount(flag: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) {
    throw new UsageProblem(`--${flag} must be a whole number, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function readPositionals(
  table: CommandTable,
  name: string,
  words: readonly string[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  let index = 0;
  for (const [key, positional] of Object.entries(table[name]?.positionals ?? {})) {
    if (positional.many) {
      values[key] = words.slice(index);
      index = words.length;
      continue;
    }
    const word = words[index++];
    if (word === undefined && !positional.optional) {
      throw new UsageProblem(`missing <${key}>: ${usageLine(name, table[name])}`);
    }
    if (word !== undefined && positional.oneOf !== undefined && !positional.oneOf.includes(word)) {
      throw new UsageProblem(`<${key}> must be ${positional.oneOf.join(", ")}, not ${word}`);
    }
    values[key] = word;
  }
  const extra = words[index];
  if (extra !== undefined) {
    throw new UsageProblem(`unexpected ${JSON.stringify(extra)}: ${usageLine(name, table[name])}`);
  }
  return values;
}

/** `grid new <repo> <name> [flags]` */
export function usageLine(name: string, command: Command | undefined): string {
  const positionals = Object.entries(command?.positionals ?? {}).map(([key, positional]) =>
    positional.many ? `[-- ${key}…]` : positional.optional ? `[${key}]` : `<${key}>`
  );
  const flags = Object.keys(command?.flags ?? {}).length > 0 ? ["[flags]"] : [];
  const behind = positionals.filter((text) => text.startsWith("[--"));
  const before = positionals.filter((text) => !text.startsWith("[--"));
  return ["grid", name, ...before, ...flags, ...behind].join(" ");
}
