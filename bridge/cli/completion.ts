/** Completion scripts, made from the command table; names of workspaces are asked of the bridge. */
import { type CommandTable, globalFlags, verbsOf } from "./arguments.ts";

export type Shell = "bash" | "zsh" | "fish";

/** The script for `shell`, to be sourced. */
export function completionScript(table: CommandTable, shell: Shell): string {
  switch (shell) {
    case "bash":
      return bash(table);
    case "zsh":
      // zsh runs bash completions; one script is one thing to keep right.
      return `autoload -Uz bashcompinit && bashcompinit\n${bash(table)}`;
    case "fish":
      return fish(table);
  }
}

const firstWords = (table: CommandTable) => [
  ...new Set(Object.keys(table).map((name) => name.split(" ")[0] ?? name)),
  "help",
];
const flagsOf = (table: CommandTable, name: string) =>
  Object.keys({ ...table[name]?.flags, ...globalFlags }).map((flag) => `--${flag}`);

/** Commands whose first argument is a workspace. */
const takesWorkspace = (table: CommandTable) =>
  Object.entries(table).filter(([, { positionals }]) =>
    Object.keys(positionals ?? {})[0] === "workspace"
  ).map(([name]) => name);

function bash(table: CommandTable): string {
  const nouns = firstWords(table).filter((word) => verbsOf(table, word).length > 0);
  return `# bash completion of grid
_grid_workspaces() {
  grid ls --no-color 2>/dev/null | sed -n '2,$s/ .*//p'
}
_grid() {
  local current=\${COMP_WORDS[COMP_CWORD]} noun=\${COMP_WORDS[1]} name=\${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quote(firstWords(table).join(" "))} -- "$current"))
    return
  fi
  case $noun in
${
    nouns.map((noun) =>
      `    ${noun})
      if ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W ${quote(verbsOf(table, noun).join(" "))} -- "$current"))
        return
      fi
      name="$noun \${COMP_WORDS[2]}" ;;
`
    ).join("")
  }  esac
  if [[ $current == -* ]]; then
    case $name in
${
    Object.keys(table).map((name) =>
      `      ${quote(name)}) COMPREPLY=($(compgen -W ${
        quote(flagsOf(table, name).join(" "))
      } -- "$current")) ;;
`
    ).join("")
  }    esac
    return
  fi
  case $name in
    ${takesWorkspace(table).map(quote).join("|")})
      ((COMP_CWORD == 2)) && COMPREPLY=($(compgen -W "$(_grid_workspaces)" -- "$current")) ;;
${
    Object.entries(table).flatMap(([name, { positionals }]) => {
      const index = Object.values(positionals ?? {}).findIndex(({ oneOf }) => oneOf !== undefined);
      const values = Object.values(positionals ?? {})[index]?.oneOf;
      return values === undefined ? [] : [
        `    ${quote(name)}) ((COMP_CWORD == ${
          name.split(" ").length + index + 1
        })) && COMPREPLY=($(compgen -W ${quote(values.join(" "))} -- "$current")) ;;\n`,
      ];
    }).join("")
  }    help) COMPREPLY=($(compgen -W ${quote(firstWords(table).join(" "))} -- "$current")) ;;
  esac
  return 0
}
complete -F _grid grid
`;
}

function fish(table: CommandTable): string {
  const lines = ["# fish completion of grid", "complete -c grid -f"];
  const summaries = new Map(Object.entries(table).map(([name, { summary }]) => [name, summary]));
  for (const word of firstWords(table)) {
    const summary = summaries.get(word) ?? verbsOf(table, word).join(", ");
    lines.push(`complete -c grid -n __fish_use_subcommand -a ${word} -d ${fishQuote(summary)}`);
    for (const verb of verbsOf(table, word)) {
      lines.push(
        `complete -c grid -n '__fish_seen_subcommand_from ${word}' -a ${verb} -d ${
          fishQuote(summaries.get(`${word} ${verb}`) ?? "")
        }`,
      );
    }
  }
  for (const [name, { flags }] of Object.entries(table)) {
    const seen = name.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`).join(
      "; and ",
    );
    for (const [flag, { kind, summary }] of Object.entries(flags ?? {})) {
      lines.push(
        `complete -c grid -n '${seen}' -l ${flag}${kind === "boolean" ? "" : " -r"} -d ${
          fishQuote(summary)
        }`,
      );
    }
  }
  for (const [flag, { kind, summary }] of Object.entries(globalFlags)) {
    lines.push(
      `complete -c grid -l ${flag}${kind === "boolean" ? "" : " -r"} -d ${fishQuote(summary)}`,
    );
  }
  for (const name of takesWorkspace(table)) {
    lines.push(
      `complete -c grid -n '__fish_seen_subcommand_from ${name}' ` +
        `-a '(grid ls --no-color 2>/dev/null | string match -rv "^WORKSPACE" | string replace -r " .*" "")'`,
    );
  }
  return `${lines.join("\n")}\n`;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const fishQuote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
