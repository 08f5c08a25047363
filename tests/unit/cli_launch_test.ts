import { bridgeFlags } from "../../bridge/config.ts";
import { shipFlags } from "../../ship/config.ts";
import { SessionFile } from "../../bridge/cli/session_file.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { binaryCommand, sourceCommand } from "../../bridge/launch/daemon_command.ts";
import { parseGridConfig } from "../../bridge/launch/config.ts";
import { syntaxFault } from "../../bridge/launch/json_place.ts";
import { readLogLine } from "../../bridge/launch/notice.ts";
import { defaultShipName, makePlan } from "../../bridge/launch/plan.ts";
import {
  parseVersion,
  preflight,
  problemOf,
  requirementOf,
} from "../../bridge/launch/preflight.ts";
import { type LaunchOptions, upCommand } from "../../bridge/launch/up.ts";
import { daemonFlags } from "../../shared/host/permissions.ts";
import { freePort } from "../../shared/host/ports.ts";
import { cli } from "../support/cli_support.ts";
import { ScriptedBridge } from "../support/scripted_bridge.ts";

const root = new URL("../..", import.meta.url).pathname;
const host = {
  home: "/home/ada",
  hostname: "engine",
  dataHome: undefined,
  stateHome: "relative/ignored",
  workingDirectory: "/work",
};
const noFlags = { port: undefined, shipPort: undefined, gridDirectory: undefined };

function configError(text: string): string {
  try {
    parseGridConfig(text, "grid.json");
  } catch (thrown) {
    return (thrown as Error).message;
  }
  throw new Error("it was accepted");
}

for (
  const [what, text, message] of [
    [
      "syntax",
      '{\n  "ships": [}\n',
      /^grid\.json:2:13: this is not JSON: expected a value, not "}"$/,
    ],
    [
      "a text that ends early",
      '{\n"ships": [',
      /^grid\.json:2:11: this is not JSON: expected a value, not the end$/,
    ],
    ["a comma too many", '{"ships": [],}', /^grid\.json:1:14: .* expected a key in double quotes/],
    [
      "an unknown key",
      '{"bridge": {\n  "prot": 1}}',
      /^grid\.json:2:11: bridge\.prot is not known: did you mean port\?$/,
    ],
    [
      "a wrong value in the second ship",
      '{"ships": [{"name": "a"},\n {"name": "b", "port": 70000}]}',
      /^grid\.json:2:24: ships\[1\]\.port must be 0 \(any free port\) to 65535$/,
    ],
    [
      "a name that is none",
      '{"ships": [{"name": "a/b"}]}',
      /^grid\.json:1:21: ships\[0\]\.name must not contain path separators$/,
    ],
    ["a missing name", '{"ships": [ {} ]}', /^grid\.json:1:13: ships\[0\]\.name is missing$/],
    [
      "a name taken twice",
      '{"ships": [{"name": "a"}, {"name": "a"}]}',
      /ships\[1\]\.name is the same as that of ships\[0\]/,
    ],
    ["no object", "[]", /^grid\.json:1:1: the file /],
    [
      "insecure, but how",
      '{"bridge":{"insecureNoAuth":1}}',
      /insecureNoAuth must be true or false/,
    ],
  ] as const
) {
  Deno.test(`launch config: ${what} is refused with its place`, () => {
    assert.match(configError(text), message);
  });
}

Deno.test("launch config: the syntax check agrees with JSON.parse", () => {
  const texts = [
    '{"a":[1,-2.5e+3,"\\u00e9\\n",null,{}],"b":true}',
    "[]",
    " 0 ",
    '"x"',
    "01",
    "[1,]",
  ];
  for (const text of [...texts, '{"a" 1}', "'x'", '"\n"', "nul", "", "{}}", "[1 2]", "1."]) {
    let valid = true;
    try {
      JSON.parse(text);
    } catch {
      valid = false;
    }
    assert.equal(syntaxFault(text) === null, valid, text);
  }
});

Deno.test("launch plan: defaults, the file's relative paths, flags above the file", () => {
  const bare = makePlan({}, noFlags, { ...host, directory: "/work" });
  assert.deepEqual([bare.bridge.port, bare.ships.length], [4800, 1]);
  assert.equal(bare.bridge.dataDir, "/home/ada/.local/share/grid");
  assert.deepEqual(bare.ships[0], {
    name: "engine",
    port: 4700,
    hostname: "127.0.0.1",
    gridDirectory: "/home/ada/grid",
    stateDir: "/home/ada/.local/state/grid/engine",
    sessionCommand: null,
    guarded: true,
    environment: {},
  });
  const config = parseGridConfig(
    '{"bridge": {"dataDir": "data"}, "ships": [{"name": "a"}, {"name": "b", "gridDirectory": "~/b"}]}',
    "grid.json",
  );
  const plan = makePlan(config, { ...noFlags, port: 1, shipPort: 5000 }, {
    ...host,
    directory: "/etc/grid",
  });
  assert.deepEqual([plan.bridge.port, plan.bridge.dataDir], [1, "/etc/grid/data"]);
  assert.deepEqual(
    plan.ships.map(({ port, gridDirectory }) => [port, gridDirectory]),
    [[5000, "/home/ada/grid-a"], [5001, "/home/ada/b"]],
  );
  assert.equal(defaultShipName({ hostname: "a/b" }), "local");
});

Deno.test("preflight: versions, and one sentence for what is missing or too old", async () => {
  assert.deepEqual(parseVersion("git version 2.39.5 (Apple Git-154)"), { major: 2, minor: 39 });
  assert.deepEqual(parseVersion("tmux 3.3a"), { major: 3, minor: 3 });
  assert.deepEqual(parseVersion("tmux next-3.5"), { major: 3, minor: 5 });
  assert.equal(parseVersion("tmux master"), null);
  const git = requirementOf("git");
  assert.equal(problemOf(git, "git version 2.39.0"), null);
  assert.equal(problemOf(git, "git version 3.0.1"), null);
  assert.match(problemOf(git, "git version 2.30.2") ?? "", /too old \(git version 2\.30\.2; 2\.39/);
  assert.match(
    problemOf(requirementOf("tmux"), null) ?? "",
    /^tmux is missing: .*apt install tmux/,
  );
  const here = await preflight(Deno.env.get("PATH") ?? "");
  assert.deepEqual(here.problems, []);
  assert.ok(here.programs["git"]?.startsWith("/"));
  const empty = await Deno.makeTempDir();
  assert.equal((await preflight(empty)).problems.length, 6);
  await Deno.remove(empty);
});

Deno.test("permissions: scoped lists, no FFI, no prompt, nothing for an empty list", () => {
  for (const kind of ["ship", "bridge"] as const) {
    const flags = daemonFlags(kind, { read: ["/r,x"], write: ["/w"], run: [], net: ["127.0.0.1"] });
    assert.ok(flags.includes("--no-prompt") && flags.includes("--cached-only"));
    assert.ok(flags.includes("--allow-read=/r,,x,/w") && flags.includes("--allow-write=/w"));
    assert.ok(flags.includes("--allow-net=127.0.0.1"));
    assert.ok(!flags.some((flag) => /ffi|allow-run|allow-all|^-A/.test(flag)), flags.join(" "));
    for (const flag of flags) assert.match(flag, /^--(no-prompt|cached-only|allow-\w+=.+)$/);
  }
  assert.throws(() => daemonFlags("ship", { read: [""], write: [], run: [], net: [] }));
  const scope = { read: [], write: [], run: [], net: "any" as const };
  assert.ok(daemonFlags("bridge", scope).includes("--allow-net"));
  const source = sourceCommand("/deno", { ship: "/s.ts", bridge: "/b.ts" })("ship", ["--x"], scope);
  assert.deepEqual(source.args.slice(-2), ["/s.ts", "--x"]);
  assert.deepEqual(binaryCommand("/grid")("bridge", ["--x"], scope).args, ["bridge", "run", "--x"]);
});

Deno.test("launch log lines: JSON, human, and a crash", () => {
  assert.deepEqual(readLogLine('{"at":"x","level":"warn","message":"m","n":1}'), {
    level: "warn",
    text: "m n=1",
  });
  assert.equal(readLogLine("12:00:00 info  hello").level, "info");
  assert.equal(readLogLine("error: Uncaught").level, "error");
});

/** Scripted doubles run as real processes, under the daemons' own permission flags. */
const scripted = sourceCommand(Deno.execPath(), {
  ship: join(root, "tests/support/scripted_ship.ts"),
  bridge: join(root, "tests/support/scripted_bridge.ts"),
});

function launchOptions(directory: string): LaunchOptions {
  return {
    host: { ...host, home: directory, workingDirectory: directory, stateHome: undefined },
    searchPath: Deno.env.get("PATH") ?? "",
    environment: Object.fromEntries(
      ["PATH", "HOME", "DENO_DIR"].flatMap((name) => {
        const value = Deno.env.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    daemonCommand: scripted,
    adminVariables: {},
    bridgeVariables: {},
    aliasHint: null,
    terminal: null,
    sessions: new SessionFile(join(directory, "config", "session.json")),
  };
}

interface Up {
  /** Resolves when a line that matches has been printed, with the match. */
  saw(pattern: RegExp): Promise<RegExpExecArray>;
  readonly stop: AbortController;
  readonly run: ReturnType<typeof cli>;
}

function startUp(directory: string, argv: readonly string[]): Up {
  const stop = new AbortController();
  let text = "";
  const waiting = new Set<() => void>();
  const onText = (more: string) => {
    text += more;
    for (const look of [...waiting]) look();
  };
  const run = cli(["up", ...argv], {
    stop: stop.signal,
    onOut: onText,
    onErr: onText,
    launch: { up: upCommand(launchOptions(directory)), demo: () => 0 },
  });
  const saw = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(text);
        if (match === null) return;
        waiting.delete(look);
        resolve(match);
      };
      waiting.add(look);
      look();
      run.then(() => reject(new Error(`up ended without ${pattern}: ${text}`)));
    });
  return { saw, stop, run };
}

async function withConfig(
  config: unknown,
  test: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "grid-up-" });
  try {
    await Deno.writeTextFile(join(directory, "grid.json"), JSON.stringify(config));
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("up: starts, registers, restarts a ship that dies on its port, stops all", () =>
  withConfig({
    bridge: { port: 0, insecureNoAuth: true },
    ships: [{ name: "aurora", port: 0 }, { name: "borealis", port: 0 }],
  }, async (directory) => {
    const up = startUp(directory, ["--config", "grid.json"]);
    const [, bridgeUrl = ""] = await up.saw(/bridge at (\S+)/);
    await up.saw(/INSECURE[^]*aurora keeps its workspaces in .*grid-aurora[^]*Ctrl-C stops/);
    const ships = JSON.parse((await cli(["ship", "ls", "--json"], { url: bridgeUrl })).out);
    assert.deepEqual(ships.map(({ name }: { name: string }) => name), ["aurora", "borealis"]);
    const url = ships[0].url as string;
    await fetch(`${url}/die`).catch(() => {});
    await up.saw(/ship aurora died \(exit code 3\): told to die; starting it again in 0\.5 s/);
    const [, again] = await up.saw(/ship aurora is back at (\S+)/);
    assert.equal(again, url);
    assert.equal(await (await fetch(url)).text(), "aurora");
    up.stop.abort();
    assert.equal((await up.run).code, 0);
    await assert.rejects(fetch(url));
    await assert.rejects(fetch(bridgeUrl));
  }));

Deno.test("up: a ship that cannot start is a failure with its last words", () =>
  withConfig({ bridge: { port: 0 }, ships: [{ name: "broken", port: 0 }] }, async (directory) => {
    const { code, err } = await startUp(directory, ["--config", "grid.json"]).run;
    assert.equal(code, 1);
    assert.match(
      err,
      /ship broken did not start \(exit code 1\):\n {2}the grid directory is a file/,
    );
  }));

Deno.test("up: taken ports and a missing config say what to do", () =>
  withConfig({}, async (directory) => {
    const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = taken.addr;
    const spare = String(freePort("127.0.0.1"));
    const bridge = await startUp(directory, ["--port", String(port), "--ship-port", spare]).run;
    const ship = await startUp(directory, ["--ship-port", String(port), "--port", spare]).run;
    taken.close();
    assert.match(bridge.err, new RegExp(`port ${port} on 127.0.0.1 is taken .*--port ${port + 1}`));
    assert.match(ship.err, new RegExp(`port ${port} .* ship engine, is taken .*--ship-port`));
    await using server = await new ScriptedBridge().serve();
    const there = new URL(server.url).port;
    const answered = await startUp(directory, ["--port", there, "--ship-port", spare]).run;
    assert.match(answered.err, /a bridge already answers at .*: use it \(`grid status`\)/);
    const missing = await startUp(directory, ["--config", "none.json"]).run;
    assert.match(missing.err, /there is no .*none\.json: write one such as/);
    assert.deepEqual([bridge, ship, answered, missing].map(({ code }) => code), [1, 1, 1, 1]);
  }));

Deno.test("permissions: each flag's environment twin may be read", () => {
  const scope = { read: [], write: [], run: [], net: [] };
  for (const [kind, table] of [["ship", shipFlags], ["bridge", bridgeFlags]] as const) {
    const flag = daemonFlags(kind, scope).find((one) => one.startsWith("--allow-env=")) ?? "";
    const names = flag.slice("--allow-env=".length).split(",");
    for (const name of [...table.values, ...table.switches]) {
      const twin = table.environmentPrefix + name.replaceAll("-", "_").toUpperCase();
      assert.ok(names.includes(twin), `${kind}: ${twin}`);
    }
  }
});
