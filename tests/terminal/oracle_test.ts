import { corpus, corpusEntry } from "./corpus.ts";
import { Oracle } from "./oracle.ts";
import { Player, playerLine } from "./player.ts";
import { sessionName, TmuxFixture } from "./terminal_fixture.ts";

const name = sessionName("b");

Deno.test("over the corpus a client shows what tmux shows", async (t) => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, playerLine(tmux.folder));
  const player = new Player(tmux.folder);
  const client = tmux.connect(name);
  client.init();
  await using oracle = await Oracle.of(tmux, name);
  for (const [what, bytes] of corpus) {
    await t.step(what, async () => {
      const title = await player.play(client, bytes);
      await client.socket.until(() => client.grid?.title === title);
      await oracle.agrees(client, what);
    });
  }
});

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

for (
  const [program, keys] of [
    ["vim -u NONE -n -N", [
      ":set nu\r",
      "ihello 漢字\x1b",
      "yy20p",
      "10G",
      "dd",
      "\x06",
      "/hel\r",
      ":vsplit\r",
      "G",
      "o\ttab\x1b",
      "gg",
      "\x15",
    ]],
    ["less -R", [" ", "G", "g", "/5\r", "j", "k", "\x04"]],
  ] as const
) {
  const binary = program.split(" ")[0]!;
  const installed = Deno.statSync.bind(null, `/usr/bin/${binary}`);
  let missing = false;
  try {
    installed();
  } catch {
    missing = true;
  }
  Deno.test({
    name: `${binary} looks as in tmux after every key`,
    ignore: missing,
  }, async () => {
    await using tmux = await TmuxFixture.start();
    const text = Array.from(
      { length: 400 },
      (_, n) => `\x1b[3${n % 8}m${n}\x1b[m ${"word ".repeat(n % 17)}`,
    );
    await Deno.writeTextFile(`${tmux.folder}/text`, text.join("\n"));
    await tmux.session(name, `${program} ${tmux.folder}/text`);
    const client = tmux.connect(name);
    client.init(90, 30);
    await using oracle = await Oracle.of(tmux, name);
    await client.shows(/word/);
    for (const key of keys) {
      client.type(key);
      await oracle.agrees(client, `${binary} after ${JSON.stringify(key)}`);
    }
  });
}

Deno.test("the smallest and the largest screens", async (t) => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, playerLine(tmux.folder));
  const player = new Player(tmux.folder);
  const client = tmux.connect(name);
  client.init(1, 1);
  await using oracle = await Oracle.of(tmux, name);
  const entries = [
    ...[
      "every SGR",
      "24-bit and palette ramps",
      "a log",
      "sequences of seed 3",
      "no VT52",
    ],
    ...[
      "wide, combining, joined and right-to-left text",
      "any bytes of seed 6, with escapes",
    ],
    ...["scroll regions", "insert mode at the margin", "tabs"],
  ];
  const sizes = [
    [1, 1],
    [1, 24],
    [80, 1],
    [2, 2],
    [3, 1],
    [1, 512],
    [1024, 1],
    [1, 1],
  ] as const;
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
