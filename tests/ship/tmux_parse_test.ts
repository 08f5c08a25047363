import assert from "node:assert/strict";
import { quote, startCommands } from "../../ship/tmux/commands.ts";
import { sessionName, sessionNamePattern } from "../../ship/tmux/names.ts";
import { judge, parseLiveSessions } from "../../ship/tmux/parse.ts";
import { workspaceId } from "../support/ids_support.ts";

const name = `ws-${"a".repeat(64)}`;
const exited = (code: number, stderr: string) => judge({ ending: "exited", code, stderr });

Deno.test("session names are stable, of one form, and differ where only the border differs", async () => {
  assert.match(await sessionName(workspaceId("a", "bc")), sessionNamePattern);
  assert.equal(
    await sessionName(workspaceId("a", "bc")),
    "ws-73c07196aca6072a48f53f5cadcb76fd69a0644f77b01b03cb2d1af812420d97",
    "a changed name would lose every running session",
  );
  const pairs = [["a", "bc"], ["ab", "c"], ["abc", "a"], ["bc", "a"], ["a b", "c"], ["a", "b c"]];
  const names = await Promise.all(pairs.map(([repo, ws]) => sessionName(workspaceId(repo!, ws!))));
  assert.equal(new Set(names).size, pairs.length);
});

Deno.test("tmux is judged by what it meant", () => {
  assert.equal(exited(0, "").kind, "ok");
  for (
    const said of [
      "no server running on /tmp/tmux-0/grid-ship\n",
      "error connecting to /tmp/tmux-0/grid-ship (No such file or directory)\n",
      "error connecting to /tmp/tmux-0/grid-ship (Connection refused)\n",
      "server exited unexpectedly\n",
    ]
  ) assert.equal(exited(1, said).kind, "noServer", said);
  assert.equal(exited(1, "can't find session: ws-1\n").kind, "noSession");
  assert.equal(exited(1, "duplicate session: ws-1\n").kind, "duplicate");
  assert.deepEqual(exited(1, "not a suitable shell: x\n"), {
    kind: "failed",
    reason: "not a suitable shell: x",
  });
  assert.equal(
    exited(1, "error connecting to /tmp/tmux-0/grid-ship (Permission denied)").kind,
    "failed",
    "a socket that is not ours to use is no absent server",
  );
  assert.equal(judge({ ending: "timeout", code: 124, stderr: "" }).kind, "failed");
});

Deno.test("a session counts while one of its panes lives, and only when it is ours", () => {
  const other = `ws-${"b".repeat(64)}`;
  const panes = `${name} 1\n${name} 0\n${other} 1\nmine 0\n${name}x 0\n`;
  assert.deepEqual([...parseLiveSessions(panes)], [name]);
  assert.equal(parseLiveSessions("").size, 0);
});

Deno.test("a quoted word holds nothing that tmux could read as more", () => {
  assert.equal(quote("A=b c"), '"A=b\\040c"');
  assert.equal(quote("é\n"), '"\\303\\251\\012"');
  assert.match(quote("#(x) ${y} ; ' \" \\ ~ %"), /^"[A-Za-z0-9_./:=@+,\\-]*"$/);
  assert.throws(() => quote("a\0b"));
});

Deno.test("the start list never names a directory and refuses odd variable names", () => {
  const start = { sessionName: name, shell: "/bin/sh", sessionCommand: "run it", environment: {} };
  const line = startCommands({ ...start, environment: { A: "1" } }).trimEnd().split("\n").at(-1);
  assert.equal(line, `new-session -d -E -s "${name}" -e "A=1" -- "run\\040it"`);
  assert.throws(() => startCommands({ ...start, environment: { "A; kill-server": "1" } }));
});
