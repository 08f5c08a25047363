/** Help, made from the command table. */
import {
  type Command,
  type CommandTable,
  type Flag,
  globalFlags,
  usageLine,
  verbsOf,
} from "./arguments.ts";
import { padEnd } from "./display_width.ts";

/** Help for the whole (`null`), for a noun with verbs, or for one command. */
export function helpText(table: CommandTable, topic: string | null): string {
  if (topic === null) return overview(table);
  const command = Object.hasOwn(table, topic) ? table[topic] : undefined;
  return command === undefined ? nounHelp(table, topic) : commandHelp(topic, command);
}

function overview(table: CommandTable): string {
  return [
    "grid: git workspaces with coding agents, across many hosts",
    "",
    "Usage: grid <command> [flags]",
    "",
    ...rows(Object.entries(table).map(([name, { summary }]) => [name, summary])),
    "",
    "Every command takes:",
    ...flagRows(globalFlags),
    "",
    "Start with `grid demo --once` for a tour, or `grid up` for the real thing.",
    "`grid help <command>` says more. Exit codes: 0 done, 1 failed, 2 wrong usage.",
    "",
  ].join("\n");
}

function nounHelp(table: CommandTable, noun: string): string {
  const verbs = verbsOf(table, noun).map((verb) => `${noun} ${verb}`);
  return [
    `Usage: grid ${noun} <verb> [flags]`,
    "",
    ...rows(verbs.map((name) => [usageLine(name, table[name]), table[name]?.summary ?? ""])),
    "",
  ].join("\n");
}

function commandHelp(name: string, command: Command): string {
  const positionals = Object.entries(command.positionals ?? {});
  const flags = Object.entries(command.flags ?? {});
  return [
    command.summary,
    "",
    `Usage: ${usageLine(name, command)}`,
    ...section("Arguments", rows(positionals.map(([key, { summary }]) => [`<${key}>`, summary]))),
    ...section("Flags", flagRows(Object.fromEntries(flags))),
    ...section("Always", flagRows(globalFlags)),
    ...section("Examples", (command.examples ?? []).map((example) => `  ${example}`)),
    "",
  ].join("\n");
}

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ["", `${title}:`, ...lines];

function flagRows(flags: Readonly<Record<string, Flag>>): string[] {
  return rows(
    Object.entries(flags).map(([name, { kind, value, summary }]) => [
      kind === "boolean" ? `--${name}` : `--${name} ${value ?? "VALUE"}`,
      summary,
    ]),
  );
}

function rows(pairs: ReadonlyArray<readonly [string, string]>): string[] {
  const width = Math.max(0, ...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `  ${padEnd(left, width)}  ${right}`);
}
