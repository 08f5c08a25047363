/** The command lines of the systemd units, run as they stand but for the places. */
import assert from "node:assert/strict";
import { unitText } from "../../scripts/systemd.ts";
import { startDaemon } from "../../shared/host/daemon.ts";
import { askBridge, Place, repositoryRoot } from "../support/grid_process.ts";

for (const kind of ["bridge", "ship"] as const) {
  Deno.test(`systemd: the ${kind}'s permission flags are enough for its work`, async () => {
    await using place = await Place.make();
    // StateDirectory= makes these.
    for (const name of ["workspaces", "ship", "bridge"]) await Deno.mkdir(place.at("state", name));
    const [deno, ...args] = commandOf(unitText(kind)).map((word) =>
      word.replaceAll("/var/lib/grid", place.at("state"))
        .replaceAll("/opt/workspace-grid/", repositoryRoot)
    );
    assert.equal(deno, "/usr/local/bin/deno");
    const lines: string[] = [];
    const keep = (line: string) => void lines.push(line);
    await using daemon = startDaemon({
      path: Deno.execPath(),
      args: [...args, "--port=0"],
      cwd: place.at("state"),
      env: place.environment(kind === "bridge" ? { GRID_INSECURE_NO_AUTH: "1" } : {}),
      onLine: keep,
      onErrorLine: keep,
    });
    const url = await daemon.listening(60_000);
    assert.ok(url !== null, lines.join("\n"));
    const remote = await place.makeRemote();
    if (kind === "ship") {
      const body = { url: remote, repoName: "repo", name: "one", branch: "main" };
      await askBridge(url, "POST", "/workspaces", body);
      await askBridge(url, "POST", "/workspaces/repo/one/activate");
      await askBridge(url, "GET", "/workspaces/repo/one");
      await askBridge(url, "GET", "/system-resources");
      await askBridge(url, "DELETE", "/workspaces/repo/one");
    } else {
      await askBridge(url, "POST", "/repos", { name: "repo", url: remote });
      const branches = await askBridge(url, "GET", "/repos/repo/branches") as unknown[];
      assert.equal(branches.length, 3);
    }
    assert.equal((await daemon.stop()).code, 0);
    assert.ok(!lines.some((line) => line.includes("NotCapable")), lines.join("\n"));
  });
}

/** The words of the ExecStart line: none of them is quoted. */
function commandOf(unit: string): string[] {
  const line = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit)?.[1] ?? "";
  return line.replaceAll("\\\n", " ").split(/\s+/).map((word) => word.replaceAll("%%", "%"));
}
