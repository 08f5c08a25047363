/** The entry of the compiled binary, under the permissions that are compiled into it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { binaryPermissions } from "../../scripts/build.ts";
import { startDaemon } from "../../shared/host/daemon.ts";
import { askBridge, Place, repositoryRoot } from "../support/grid_process.ts";

const entry = join(repositoryRoot, "scripts/compiled_entry.ts");

function start(place: Place, args: readonly string[], lines: string[]) {
  const keep = (line: string) => void lines.push(line);
  return startDaemon({
    path: Deno.execPath(),
    args: ["run", "--cached-only", ...binaryPermissions, entry, ...args],
    cwd: place.root,
    env: place.environment(),
    onLine: keep,
    onErrorLine: keep,
  });
}

Deno.test("compiled entry: `ship run` and `bridge run` are the daemons", async () => {
  await using place = await Place.make();
  for (
    const [kind, flags] of [
      ["ship", [`--grid-directory=${place.at("grid")}`, `--state-dir=${place.at("state")}`]],
      ["bridge", [`--data-dir=${place.at("data")}`, "--insecure-no-auth"]],
    ] as const
  ) {
    const lines: string[] = [];
    await using daemon = start(place, [kind, "run", "--port=0", ...flags], lines);
    const url = await daemon.listening(60_000);
    assert.ok(url !== null, lines.join("\n"));
    assert.deepEqual(await askBridge(url, "GET", "/workspaces"), []);
    assert.equal((await daemon.stop()).code, 0);
  }
});

Deno.test("compiled entry: a daemon's wrong flags end with 2, everything else is the command line", async () => {
  await using place = await Place.make();
  const codeOf = async (...args: string[]) => {
    const lines: string[] = [];
    await using daemon = start(place, args, lines);
    return { code: (await daemon.ended).code, text: lines.join("\n") };
  };
  const wrong = await codeOf("bridge", "run", "--prot=1");
  assert.equal(wrong.code, 2);
  assert.match(wrong.text, /^bridge: .*prot/);
  const version = await codeOf("version");
  assert.equal(version.code, 0);
  assert.match(version.text, /\d+\.\d+\.\d+/);
  const help = await codeOf("help", "ship");
  assert.equal(help.code, 0);
  assert.match(help.text, /ship add/);
});
