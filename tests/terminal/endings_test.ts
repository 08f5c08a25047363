/** How terminals end on real daemons, over both routes: what the client is told, and that nothing is left. */
import assert from "node:assert/strict";
import { dial } from "../../shared/host/dial.ts";
import { terminalClose } from "../../shared/terminal/protocol.ts";
import { sessionName } from "../../ship/tmux/names.ts";
import { eventually } from "../support/grid_process.ts";
import { idOf } from "../support/grid_support.ts";
import { frame } from "../support/listen_support.ts";
import { DaemonGrid, type Hop, hops } from "./daemon_grid.ts";
import type { GridClient } from "./grid_client.ts";

const { normal } = terminalClose;

/** A workspace for each route, and a client that has its first picture. */
async function attachedBoth(grid: DaemonGrid, what: string): Promise<Record<Hop, GridClient>> {
  const clients: Partial<Record<Hop, GridClient>> = {};
  for (const hop of hops) {
    clients[hop] = await grid.attached(hop, await grid.workspace(`${what}-${hop}`));
    await clients[hop].shows("$");
  }
  return clients as Record<Hop, GridClient>;
}

Deno.test("a session's end, whoever brings it about, is an exit and a close over both routes", async () => {
  await using grid = await DaemonGrid.start();

  const exiting = await attachedBoth(grid, "exiting");
  // Shell, `cat`, `script` and client at least, for each.
  assert.ok((await grid.children()).length >= 6);
  for (const [hop, code] of [["ship", 0], ["bridge", 7]] as const) {
    exiting[hop].type(`exit ${code}\r`);
    assert.deepEqual(await exiting[hop].closes(), normal, hop);
    assert.equal(exiting[hop].exitCode, code, hop);
  }
  await grid.noChildren();

  const signalled = await attachedBoth(grid, "signalled");
  for (const hop of hops) {
    signalled[hop].type("kill -9 $$\r");
    assert.deepEqual(await signalled[hop].closes(), normal, hop);
    assert.equal(signalled[hop].exitCode, 137, hop);
  }

  for (const asked of hops) {
    const stopped = await attachedBoth(grid, `stopped-${asked}`);
    for (const hop of hops) {
      const path = `/workspaces/web/stopped-${asked}-${hop}`;
      await grid.ask(asked, "POST", `${path}/deactivate`);
      assert.deepEqual(await stopped[hop].closes(), normal, `deactivate (${hop})`);
      assert.notEqual(stopped[hop].exitCode, null);
      await grid.ask(asked, "POST", `${path}/activate`);
      await grid.isFree(hop, `stopped-${asked}-${hop}`);
      const again = await grid.attached(hop, `stopped-${asked}-${hop}`);
      await grid.ask(asked, "DELETE", path);
      assert.deepEqual(await again.closes(), normal, `delete (${hop})`);
      assert.notEqual(again.exitCode, null);
    }
    await grid.noChildren();
  }

  const orphaned = await attachedBoth(grid, "orphaned");
  const server = Number((await grid.place.tmux("display-message", "-p", "#{pid}")).trim());
  Deno.kill(server, "SIGKILL");
  for (const hop of hops) {
    assert.deepEqual(await orphaned[hop].closes(), normal, `tmux killed (${hop})`);
    assert.equal(orphaned[hop].exitCode, 1, `tmux killed (${hop})`);
    const path = `/workspaces/web/orphaned-${hop}/activate`;
    await eventually(
      "it can be activated again",
      () => grid.ask("ship", "POST", path).then(() => true, () => false),
    );
    await grid.isFree(hop, `orphaned-${hop}`);
  }
  await grid.noChildren();
});

Deno.test("no session, no workspace and a terminal in use are exit 1 over both routes", async () => {
  await using grid = await DaemonGrid.start();
  const first = await attachedBoth(grid, "used");
  for (const hop of hops) {
    // Also over the other route: it is the session that has one terminal.
    for (const other of hops) {
      const second = await grid.connect(other, `used-${hop}`);
      assert.deepEqual(await second.closes(), normal);
      assert.equal(second.exitCode, 1);
      assert.equal(second.frames, 1);
    }
    first[hop].type("echo undis''turbed\r");
    await first[hop].shows("undisturbed");
    await grid.ask("ship", "POST", `/workspaces/web/used-${hop}/deactivate`);
    await first[hop].closes();
    for (const name of [`used-${hop}`, "nobodys"]) {
      const client = await grid.connect(hop, name);
      client.send({ type: "init", cols: 80, rows: 24 });
      assert.deepEqual(await client.closes(), normal, name);
      assert.equal(client.exitCode, 1, name);
    }
  }
  await grid.noChildren();
});

Deno.test("a client that vanishes, at any moment, leaves a free guard and no child", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) await grid.workspace(hop);
  await Promise.all(hops.map(async (hop) => {
    for (let round = 0; round < 5; round += 1) {
      for (const greeting of ["", '{"type":"init","cols":80,"rows":24}']) {
        using client = await grid.raw(hop, hop);
        if (greeting !== "") client.write(frame(greeting));
        client.socket.resetAndDestroy();
        await grid.isFree(hop, hop);
      }
    }
    const idle = await grid.attached(hop, hop);
    await idle.shows("$");
    idle.socket.terminate();
    await grid.isFree(hop, hop);
    const flooded = await grid.attached(hop, hop);
    flooded.type("yes flood\r");
    await flooded.shows("flood\nflood");
    flooded.socket.terminate();
    const next = await grid.attached(hop, hop);
    next.type("\x03");
    await next.shows("$");
    next.socket.terminate();
    await grid.isFree(hop, hop);
  }));
});

Deno.test("a ship that is killed closes the bridge's clients, and the session lives on", async () => {
  await using grid = await DaemonGrid.start();
  const { ship, bridge } = await attachedBoth(grid, "lives");
  bridge.type("timeout 30 yes flood\r");
  await bridge.shows("flood");
  Deno.kill(grid.ship.daemon.pid, "SIGKILL");
  assert.equal((await bridge.closes()).code, 1011);
  assert.equal((await ship.closes()).code, 1006);
  await grid.ship.daemon.ended;
  await grid.noChildren();
  const clients = await grid.place.tmux("list-clients", "-F", "#{client_name}");
  assert.equal(clients, "");
  const gone = await grid.connect("bridge", "lives-bridge");
  assert.deepEqual(await gone.closes(), normal);
  assert.equal(gone.exitCode, 1);
  const session = `=${await sessionName(idOf("web", "lives-ship"))}:`;
  await grid.place.tmux(
    "send-keys",
    "-t",
    session,
    "echo a''live",
    "Enter",
  );
  await grid.startShip();
  const again = await grid.attached("ship", "lives-ship");
  await again.shows("alive");
  again.socket.close(1000);
  await again.closes();
});

Deno.test("a ship that is asked to end says 1001 over both routes, and so does a bridge", async () => {
  await using grid = await DaemonGrid.start();
  const before = await attachedBoth(grid, "ending");
  Deno.kill(grid.bridge.daemon.pid, "SIGTERM");
  assert.equal((await before.bridge.closes()).code, 1001);
  assert.equal((await grid.bridge.daemon.ended).code, 0);
  before.ship.type("echo undis''turbed\r");
  await before.ship.shows("undisturbed");
  const next = await grid.attached("ship", "ending-bridge");
  Deno.kill(grid.ship.daemon.pid, "SIGTERM");
  assert.equal((await before.ship.closes()).code, 1001);
  assert.equal((await next.closes()).code, 1001);
  assert.equal((await grid.ship.daemon.ended).code, 0);
  await grid.noChildren();
});

Deno.test("a ship that is asked to end says 1001 to the bridge's clients", async () => {
  await using grid = await DaemonGrid.start();
  const { bridge } = await attachedBoth(grid, "ends");
  Deno.kill(grid.ship.daemon.pid, "SIGTERM");
  assert.equal((await bridge.closes()).code, 1001);
  assert.equal((await grid.ship.daemon.ended).code, 0);
  await grid.noChildren();
});

Deno.test("who is told of the end does not have to listen: dials that are refused leave nothing", async () => {
  await using grid = await DaemonGrid.start();
  await grid.workspace("closed");
  const url = grid.ship.url.replace(/^http/, "ws") + grid.path("closed");
  await assert.rejects(dial(url, { openTimeoutMs: 5_000 }), { status: 401 });
  await assert.rejects(
    dial(url, { openTimeoutMs: 5_000, headers: { authorization: "Bearer wrong" } }),
    { status: 401 },
  );
  await grid.isFree("ship", "closed");
});
