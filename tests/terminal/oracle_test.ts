import assert from "node:assert/strict";
import { until } from "../support/listen_support.ts";
import { ChaosClient } from "./chaos.ts";
import { corpus, corpusEntry } from "./corpus.ts";
import { Oracle } from "./oracle.ts";
import { Player, playerLine } from "./player.ts";
import { seeded } from "./random_grid.ts";
import { sessionName, TmuxFixture } from "./terminal_fixture.ts";
import { bridgeRoute, shipRoute } from "./terminal_routes.ts";

const name = sessionName("b");

for (
  const [by, opened] of [["straight to the ship", shipRoute], [
    "through a bridge",
    bridgeRoute,
  ]] as const
) {
  Deno.test(`over the corpus a client shows what tmux shows, ${by}`, async (t) => {
    await using route = await opened();
    const player = new Player(route.folder);
    const socket = await route.connect();
    // No storm: it is its calm self that loses nothing.
    const client = new ChaosClient(socket, seeded(1));
    client.send({ type: "init", cols: 80, rows: 24 });
    await until("the first screen", () => client.grid !== null);
    await using oracle = await Oracle.of(route.server, route.session);
    for (const [what, bytes] of corpus) {
      await t.step(what, async () => {
        const title = await player.play(client, bytes);
        await until(`the end of ${what}`, () => client.grid?.title === title);
        await oracle.agrees(client, what);
      });
    }
    assert.equal(client.broken, null);
    socket.close(1000);
    await until("it is closed", () => client.closed);
  });
}

Deno.test("splits are composed", async () => {
  await using tmux = await TmuxFixture.start();
  await Deno.writeTextFile(
    `${tmux.folder}/play`,
    corpusEntry("every SGR")[1] as string,
  );
  await tmux.session(name, `cat ${tmux.folder}/play; sleep 60`);
  const client = tmux.connect(name);
  client.init(120, 40);
  await using oracle = await Oracle.of(tmux, name);
  await tmux.tmux("split-window", "-h", "-t", name, "seq 1 500; sleep 60");
  await tmux.tmux(
    "split-window",
    "-v",
    "-t",
    name,
    "printf '漢字漢字'; sleep 60",
  );
  await oracle.agrees(client, "three panes");
});

Deno.test("a flood of 50 MB ends with its last screen", async () => {
  await using tmux = await TmuxFixture.start();
  const line = (n: number) =>
    `\x1b[3${n % 8}m${n}\x1b[m ${"some words ".repeat(n % 20)}${n % 10 === 0 ? "é漢" : ""}\r\n`;
  const lines = Array.from({ length: 10_000 }, (_, n) => line(n)).join("");
  await Deno.writeTextFile(`${tmux.folder}/flood`, lines);
  const megabytes = 50;
  const times = Math.ceil(megabytes * 1024 * 1024 / new TextEncoder().encode(lines).length);
  const flood = `for n in $(seq ${times}); do cat ${tmux.folder}/flood; done`;
  await tmux.session(name, `read go; ${flood}; echo the end; read done`);
  const client = tmux.connect(name);
  client.init(100, 30);
  await using oracle = await Oracle.of(tmux, name);
  client.type("\r");
  await client.socket.until(() => /^the end$/m.test(client.text), 60_000);
  await oracle.agrees(client, "after the flood");
  assert.ok(
    client.characters < megabytes * 1024 * 1024 / 20,
    `${client.characters} characters came`,
  );
});

Deno.test("the smallest and the largest screens", async (t) => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, playerLine(tmux.folder));
  const player = new Player(tmux.folder);
  const client = tmux.connect(name);
  client.init(1, 1);
  await using oracle = await Oracle.of(tmux, name);
  const entries = [
    ...["every SGR", "a log", "scroll regions", "insert mode at the margin"],
    ...["wide, combining, joined and right-to-left text", "any bytes of seed 6, with escapes"],
  ];
  const sizes = [[1, 1], [1, 24], [80, 1], [2, 2], [3, 1], [1, 512], [1, 1]] as const;
  for (const [cols, rows] of sizes) {
    await t.step(`${cols}x${rows}`, async () => {
      client.send({ type: "resize", cols, rows });
      await client.socket.until(() => client.grid?.cols === cols && client.grid.rows === rows);
      for (const what of entries) {
        const title = await player.play(client, corpusEntry(what)[1]);
        await client.socket.until(() => client.grid?.title === title);
        await oracle.agrees(client, what);
      }
    });
  }
  await t.step("1024x512", async () => {
    client.send({ type: "resize", cols: 1024, rows: 512 });
    await client.socket.until(() => client.grid?.rows === 512);
    const ramps = corpusEntry("24-bit and palette ramps")[1] as string;
    const title = await player.play(client, ramps.repeat(40));
    await client.socket.until(() => client.grid?.title === title);
    await oracle.agrees(client, "1024x512");
  });
});
