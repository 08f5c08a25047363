import { corpus } from "./corpus.ts";
import { agrees } from "./oracle.ts";
import { seeded } from "./random_grid.ts";
import { sessionName, TestClient, TmuxFixture } from "./terminal_fixture.ts";

const name = sessionName("b");

/** Shows `bytes` alone on a cleared screen of the session's `cat` loop. */
async function play(
  tmux: TmuxFixture,
  client: TestClient,
  { bytes, mark }: { bytes: string; mark: number },
) {
  await Deno.writeTextFile(`${tmux.folder}/play`, bytes);
  await Deno.writeTextFile(`${tmux.folder}/title`, `\x1b]2;played ${mark}\x1b\\`);
  client.type("x");
  await client.socket.until(() => client.grid?.title === `played ${mark}`);
}
/** One key, one play: reset, the bytes, then a title that says that they are through. */
const player = (folder: string) =>
  `stty raw -echo; while head -c 1 > /dev/null; do printf '\\033c'; cat ${folder}/play ${folder}/title; done`;

Deno.test("over the corpus a client shows what tmux shows", async (t) => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, player(tmux.folder));
  const client = tmux.connect(name);
  client.init();
  for (const [mark, [what, bytes]] of corpus.entries()) {
    await t.step(what, async () => {
      await play(tmux, client, { bytes, mark });
      await agrees(tmux, name, { client, what });
    });
  }
});

Deno.test("with frames lost and sizes changing a client ends with what tmux shows", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, player(tmux.folder));
  await Deno.writeTextFile(`${tmux.folder}/title`, "");
  const random = seeded(42);
  const client = tmux.connect(name);
  client.init();
  await client.socket.until(() => client.grid !== null);
  client.loses = () => random() < 0.2;
  const sizes = [[80, 24], [200, 50], [40, 12], [1024, 30], [2, 2], [80, 24]] as const;
  for (const [mark, [what, bytes]] of corpus.entries()) {
    client.loses = () => random() < 0.2;
    const [cols, rows] = sizes[mark % sizes.length]!;
    client.send({ type: "resize", cols, rows });
    await Deno.writeTextFile(`${tmux.folder}/play`, bytes);
    client.type("x");
    await new Promise((resolve) => setTimeout(resolve, 20));
    client.loses = () => false;
    client.send({ type: "resize", cols: 80, rows: 24 });
    await client.socket.until(() => client.grid?.cols === 80 && client.grid.rows === 24);
    await agrees(tmux, name, { client, what: `after ${what} at ${cols}x${rows}` });
  }
});

Deno.test("splits are composed", async () => {
  await using tmux = await TmuxFixture.start();
  await Deno.writeTextFile(`${tmux.folder}/play`, corpus[0]![1]);
  await tmux.session(name, `cat ${tmux.folder}/play; sleep 60`);
  const client = tmux.connect(name);
  client.init(120, 40);
  await tmux.tmux("split-window", "-h", "-t", name, "seq 1 500; sleep 60");
  await tmux.tmux("split-window", "-v", "-t", name, "printf '漢字漢字'; sleep 60");
  await agrees(tmux, name, { client, what: "three panes" });
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
  Deno.test({ name: `${binary} looks as in tmux after every key`, ignore: missing }, async () => {
    await using tmux = await TmuxFixture.start();
    const text = Array.from(
      { length: 400 },
      (_, n) => `\x1b[3${n % 8}m${n}\x1b[m ${"word ".repeat(n % 17)}`,
    );
    await Deno.writeTextFile(`${tmux.folder}/text`, text.join("\n"));
    await tmux.session(name, `${program} ${tmux.folder}/text`);
    const client = tmux.connect(name);
    client.init(90, 30);
    await client.shows(/word/);
    for (const key of keys) {
      client.type(key);
      await agrees(tmux, name, { client, what: `${binary} after ${JSON.stringify(key)}` });
    }
  });
}

Deno.test("the smallest and the largest screen", async () => {
  await using tmux = await TmuxFixture.start();
  await Deno.writeTextFile(`${tmux.folder}/play`, corpus[1]![1].repeat(40));
  await tmux.session(name, `cat ${tmux.folder}/play; sleep 60`);
  const client = tmux.connect(name);
  client.init(1, 1);
  await client.socket.until(() => client.grid !== null);
  client.send({ type: "resize", cols: 1024, rows: 512 });
  await client.socket.until(() => client.grid?.rows === 512);
  await agrees(tmux, name, { client, what: "1024x512" });
  client.send({ type: "resize", cols: 1, rows: 1 });
  await client.socket.until(() => client.grid?.rows === 1);
  await agrees(tmux, name, { client, what: "1x1" });
});
