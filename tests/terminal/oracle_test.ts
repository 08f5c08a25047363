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

Deno.test("the smallest and the largest screen", async () => {
  await using tmux = await TmuxFixture.start();
  await Deno.writeTextFile(
    `${tmux.folder}/play`,
    (corpusEntry("24-bit and palette ramps")[1] as string).repeat(40),
  );
  await tmux.session(name, `cat ${tmux.folder}/play; sleep 60`);
  const client = tmux.connect(name);
  client.init(1, 1);
  await using oracle = await Oracle.of(tmux, name);
  await client.socket.until(() => client.grid !== null);
  client.send({ type: "resize", cols: 1024, rows: 512 });
  await client.socket.until(() => client.grid?.rows === 512);
  await oracle.agrees(client, "1024x512");
  client.send({ type: "resize", cols: 1, rows: 1 });
  await client.socket.until(() => client.grid?.rows === 1);
  await oracle.agrees(client, "1x1");
});
