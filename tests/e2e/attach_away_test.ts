/** `grid attach` while a bridge or a ship is away, where there is nothing to attach to, and `grid capture`. */
import assert from "node:assert/strict";
import { AttachRig, prompt } from "../support/attach_rig.ts";
import { eventually } from "../support/grid_process.ts";

const away = /connection lost · trying again in \d+ s · keys are dropped · Ctrl-\\ leaves/;

Deno.test("e2e attach: a bridge or ship that is killed and comes back, the screen with it", async () => {
  await using rig = await AttachRig.start();
  const terminal = await rig.attach();
  for (const which of ["bridge", "ship"] as const) {
    await terminal.type("echo be''fore\r");
    await terminal.shows("before");
    await rig.kill(which);
    assert.match(
      await terminal.shows(away),
      /before/,
      "the last picture stays",
    );
    await terminal.type(`echo dropped-${which}\r`);
    // A paste that began while nobody listened must not end as commands.
    await terminal.type(`\x1b[200~echo pasted-${which}\r`);
    await rig.inner("send-keys", `clear; echo mean''while-${which}`, "Enter");
    await rig.restart(which);
    await terminal.shows(`meanwhile-${which}`);
    const text = await terminal.shows(away, false);
    assert.ok(!text.includes("before"), "nothing old is left");
    assert.ok(!text.includes("leaves"), "the hint is shown once");
    await terminal.type(
      `echo pasted-${which}\r\x1b[201~echo ty''ped-${which}\r`,
    );
    assert.doesNotMatch(
      await terminal.shows(`typed-${which}`),
      /dropped|pasted/,
    );
  }
  await terminal.type("exit 5\r");
  await terminal.shows("code=5. restored");
});

Deno.test("e2e attach: resizing and leaving while the connection is lost", async () => {
  await using rig = await AttachRig.start();
  const terminal = await rig.attach();
  await rig.kill("ship");
  await terminal.shows(away);
  await terminal.resize(90, 12);
  await terminal.shows(away);
  await rig.restart("ship");
  await eventually(
    "the session has the size",
    async () =>
      (await rig.inner(
        "display-message",
        "-p",
        "#{window_width} #{window_height}",
      )).trim() ===
        "90 12",
  );
  await terminal.shows(away, false);
  await terminal.shows(prompt);
  for (const which of ["ship", "bridge"] as const) {
    const leaving = which === "ship" ? terminal : await rig.attach();
    await rig.kill(which);
    await leaving.shows(away);
    await leaving.type("\x1c");
    await leaving.shows("code=0. restored");
    await rig.restart(which);
    await eventually(
      "the ship is online",
      async () =>
        (await rig.ask("GET", "/ships") as { status: string }[])[0]?.status ===
          "online",
    );
  }
  const stopped = await rig.attach();
  await rig.kill("bridge");
  await stopped.shows(away);
  Deno.kill(await stopped.pid(), "SIGTERM");
  await stopped.shows("code=130. restored");
});

Deno.test("e2e attach: a session that was ended meanwhile, and one that was taken down", async () => {
  await using rig = await AttachRig.start();
  const terminal = await rig.attach();
  await rig.kill("ship");
  await terminal.shows(away);
  await rig.inner("kill-server");
  await rig.restart("ship");
  await terminal.shows(
    /grid: shop\/one has no session: `grid activate shop\/one` starts one\s+code=1\./,
  );
  await rig.ask("POST", "/workspaces/shop/one/activate");
  const again = await rig.attach();
  await rig.ask("POST", "/workspaces/shop/one/deactivate");
  await again.shows(/code=\d+\. restored/);
});

Deno.test("e2e attach: where there is nothing to attach to, it says why and leaves the terminal alone", async () => {
  await using rig = await AttachRig.start();
  const cases: Array<[string[], RegExp]> = [
    [
      ["attach", "shop/nosuch"],
      /workspace not found.*`grid ls` lists the workspaces/,
    ],
    [["attach", "nosuch"], /no workspace is called nosuch/],
    [
      ["attach", "shop/idle"],
      /shop\/idle has no session: `grid activate shop\/idle` starts one/,
    ],
  ];
  for (const [args, said] of cases) {
    const terminal = await rig.open(args);
    const text = await terminal.shows("code=1. restored");
    assert.match(text.replaceAll("\n", " "), said);
    assert.equal(await terminal.format("#{alternate_on}"), "0");
  }
  const holder = await rig.attach();
  const second = await rig.open(["attach", "shop/one"]);
  assert.match(
    (await second.shows("code=1. restored")).replaceAll("\n", ""),
    /somebody else is attached to shop\/one/,
  );
  await holder.type("echo st''ill\r");
  await holder.shows("still");
  const piped = await rig.run("attach", "shop/one");
  assert.equal(piped.code, 2);
  assert.match(
    piped.stderr,
    /attach needs a terminal: `grid capture` prints the screen/,
  );
  const captured = await rig.run("capture", "shop/one");
  assert.equal(captured.code, 1);
  assert.match(captured.stderr, /somebody else is attached to shop\/one/);
  await rig.kill("ship");
  await eventually(
    "the ship is offline",
    async () =>
      (await rig.ask("GET", "/ships") as { status: string }[])[0]?.status ===
        "offline",
  );
  const offline = await rig.open(["attach", "shop/one"]);
  assert.match(
    (await offline.shows("code=1. restored")).replaceAll("\n", " "),
    /is offline; `grid ship ls` shows which ships are online/,
  );
  await rig.kill("bridge");
  const nobody = await rig.open(["attach", "shop/one"]);
  assert.match(
    await nobody.shows("code=1. restored"),
    /no bridge at .*start one with `grid up`/,
  );
});

Deno.test("e2e capture: as text, with colours, as JSON; and what cannot be captured", async () => {
  await using rig = await AttachRig.start();
  await rig.inner(
    ...[
      "respawn-pane",
      "-k",
      "printf 'plain \\033[1;31mred\\033[m 漢\\n\\033]2;known\\007'; cat",
    ],
  );
  await eventually(
    "it is drawn",
    async () => (await rig.inner("capture-pane", "-p")).includes("漢"),
  );
  const text = await rig.run("capture", "shop/one");
  assert.deepEqual([text.code, text.stdout, text.stderr], [
    0,
    "plain red 漢\n",
    "",
  ]);
  const ansi = await rig.run("capture", "shop/one", "--ansi");
  assert.equal(ansi.stdout, "plain \x1b[1;31mred\x1b[m 漢\n");
  const json = await rig.run(
    "capture",
    "shop/one",
    "--json",
    "--cols",
    "30",
    "--rows",
    "4",
  );
  assert.deepEqual(JSON.parse(json.stdout), {
    cols: 30,
    rows: 4,
    title: "known",
    cursor: { x: 0, y: 1, visible: true },
    lines: ["plain red 漢", "", "", ""],
  });
  const idle = await rig.run("capture", "shop/idle");
  assert.equal(idle.code, 1);
  assert.match(
    idle.stderr,
    /shop\/idle has no session: `grid activate shop\/idle` starts one/,
  );
  const unknown = await rig.run("capture", "shop/nosuch", "--json");
  assert.equal(unknown.code, 1);
  assert.equal(JSON.parse(unknown.stderr).error.status, 404);
  const wide = await rig.run("capture", "shop/one", "--cols", "1025");
  assert.deepEqual([wide.code, wide.stdout], [2, ""]);
});
