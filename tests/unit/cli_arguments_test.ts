import assert from "node:assert/strict";
import { parseArguments } from "../../bridge/cli/arguments.ts";
import { commandTable } from "../../bridge/cli/command_table.ts";
import { helpText } from "../../bridge/cli/help.ts";
import { nearest } from "../../bridge/cli/nearest.ts";
import { cli } from "../support/cli_support.ts";

const parse = (...argv: string[]) => parseArguments(commandTable, argv);

function values(...argv: string[]): Readonly<Record<string, unknown>> {
  const parsed = parse(...argv);
  assert.equal(parsed.kind, "command", JSON.stringify(parsed));
  return parsed.kind === "command" ? parsed.values : {};
}

Deno.test("cli parser: words, flags and paths reach their names", () => {
  const diff = values("diff", "web/x", "--stat", "--range=a..b", "--", "--odd", "src");
  assert.equal(diff["workspace"], "web/x");
  assert.equal(diff["stat"], true);
  assert.equal(diff["staged"], false);
  assert.equal(diff["range"], "a..b");
  assert.deepEqual(diff["paths"], ["--odd", "src"]);
  assert.equal(values("new", "web", "x", "--ship", "aurora")["ship"], "aurora");
  assert.equal(values("events", "--limit", "3")["limit"], 3);
});

Deno.test("cli parser: global flags may stand anywhere", () => {
  for (
    const argv of [["--json", "--url", "http://h:1", "ship", "ls"], [
      "ship",
      "--url=http://h:1",
      "ls",
      "--json",
    ]]
  ) {
    const parsed = parse(...argv);
    assert.equal(parsed.kind === "command" && parsed.name, "ship ls");
    assert.deepEqual(parsed.globals, { json: true, url: "http://h:1", noColor: false });
  }
});

for (
  const [argv, message] of [
    [["lss"], /did you mean `grid ls`\?/],
    [["ship", "lst"], /did you mean `grid ship ls`\?/],
    [["ship"], /needs a verb/],
    [["toString"], /no command/],
    [["ls", "--actve"], /did you mean --active\?/],
    [["ls", "--constructor"], /has no flag/],
    [["ls", "extra"], /unexpected "extra"/],
    [["switch", "web"], /missing <branch>: grid switch <workspace> <branch>/],
    [["new", "web", "x", "--ship"], /--ship needs a value/],
    [["ls", "--active=yes"], /takes no value/],
    [["events", "--limit", "many"], /whole number/],
    [["completion", "tcsh"], /must be bash, zsh, fish/],
    [["--frob"], /unknown flag/],
    [["help", "lss"], /did you mean `grid ls`/],
  ] as ReadonlyArray<readonly [string[], RegExp]>
) {
  Deno.test(`cli parser: grid ${argv.join(" ")} is wrong usage, exit code 2`, async () => {
    const { code, out, err } = await cli(argv);
    assert.equal(code, 2);
    assert.equal(out, "");
    assert.match(err, message);
  });
}

Deno.test("cli help: every command, its arguments and flags", async () => {
  const whole = (await cli([])).out;
  for (const [name, command] of Object.entries(commandTable)) {
    assert.ok(whole.includes(`  ${name} `), name);
    const help = helpText(commandTable, name);
    for (const flag of Object.keys("flags" in command ? command.flags : {})) {
      assert.ok(help.includes(`--${flag}`), `${name} --${flag}`);
    }
    for (const argv of [[...name.split(" "), "--help"], ["help", ...name.split(" ")]]) {
      assert.deepEqual(await cli(argv), { code: 0, out: help, err: "", asked: [] });
    }
  }
  assert.match((await cli(["help", "ship"])).out, /grid ship add <url>/);
});

Deno.test("cli typo: a swap is one slip, another word is none", () => {
  assert.equal(nearest("actviate", ["activate", "deactivate"]), "activate");
  assert.equal(nearest("sl", ["ls", "rm"]), "ls");
  assert.equal(nearest("frobnicate", ["ls", "rm", "status"]), null);
});

Deno.test("cli version and --version agree", async () => {
  assert.equal((await cli(["version"])).out, (await cli(["--version"])).out);
});

Deno.test("cli completion: valid bash that completes commands, verbs and flags", async () => {
  const { out: script } = await cli(["completion", "bash"]);
  const complete = async (...words: string[]) => {
    const { stdout, stderr, code } = await new Deno.Command("bash", {
      args: [
        "--norc",
        "-c",
        `${script}\nCOMP_WORDS=(grid "$@"); COMP_CWORD=$#; _grid; echo "\${COMPREPLY[*]}"`,
        "bash",
        ...words,
      ],
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim().split(" ");
  };
  assert.deepEqual(await complete("act"), ["activate"]);
  assert.deepEqual(await complete("ship", ""), ["ls", "add", "rm"]);
  assert.deepEqual(await complete("new", "--s"), ["--ship"]);
  assert.deepEqual(await complete("completion", "f"), ["fish"]);
  const zsh = (await cli(["completion", "zsh"])).out;
  assert.ok(zsh.endsWith(script) && zsh.includes("bashcompinit"));
  const fish = (await cli(["completion", "fish"])).out;
  assert.match(fish, /-l ship -r /);
  // Every line has its quotes in pairs, those of words such as don't escaped.
  for (const line of fish.split("\n")) {
    assert.equal((line.replaceAll("\\'", "").match(/'/g) ?? []).length % 2, 0, line);
  }
});
