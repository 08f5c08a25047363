/** Programs as people run them, key by key. One that is not installed shows as ignored. */
import assert from "node:assert/strict";
import { sleep, until } from "../support/listen_support.ts";
import { Oracle } from "./oracle.ts";
import { below, seeded } from "./random_grid.ts";
import { sessionName, TestClient, TmuxFixture } from "./terminal_fixture.ts";

const name = sessionName("a");
/** A program that has drawn nothing for so long waits for a key. */
const stillMs = 50;

function test(binary: string, what: string, body: () => Promise<void>): void {
  let ignore = false;
  try {
    Deno.statSync(`/usr/bin/${binary}`);
  } catch {
    ignore = true;
  }
  Deno.test({ name: `${binary}: ${what}`, ignore, fn: body });
}

const keysOf = {
  "vim -u NONE -n -N": [
    ...[":set nu\r", "ihello 漢字\x1b", "yy20p", "10G", "dd", "\x06", "/hel\r", ":vsplit\r", "G"],
    ...["o\ttab\x1b", "gg", "\x15", ":set list hlsearch spell\r", ":split\r", "\x17w", "vG~"],
  ],
  "less -R": [" ", "G", "g", "/5\r", "j", "k", "\x04", "-S\r", "\x1b[C"],
} as const;

for (const [program, keys] of Object.entries(keysOf)) {
  const binary = program.split(" ")[0]!;
  test(binary, "looks as in tmux after every key", async () => {
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

/** Types, and waits until `pattern` stands on a screen to which nothing more comes. */
async function ask(client: TestClient, keys: string, pattern: RegExp): Promise<void> {
  let { frames } = client;
  client.type(keys);
  // The next screen may be the same as this one.
  await client.socket.until(() => client.frames > frames, 500).catch(() => {});
  for (let i = 0; i < 200; i++) {
    frames = client.frames;
    await sleep(stillMs);
    if (client.frames === frames && pattern.test(client.text)) return;
  }
  assert.fail(`no ${pattern} after ${JSON.stringify(keys)}:\n${client.text}`);
}

test("vttest", "every screen of its menus looks as in tmux", async () => {
  await using tmux = await TmuxFixture.start();
  await tmux.session(name, `cd ${tmux.folder}; exec vttest`);
  const client = tmux.connect(name);
  client.init();
  await using oracle = await Oracle.of(tmux, name);
  const menu = /Enter choice number/;
  await client.shows(menu);
  // Cursor movements, screen features, character sets, double sizes, insert and delete.
  for (const choice of ["1", "2", "3", "4", "8"]) {
    const what = `vttest ${choice}`;
    await ask(client, `${choice}\r`, /RETURN/);
    let screens = 0;
    for (; !menu.test(client.text); screens++) {
      assert.ok(screens < 60, `${what}: the menu never came back:\n${client.text}`);
      await oracle.agrees(client, `${what}, screen ${screens + 1}`);
      await ask(client, "\r", /RETURN|Enter choice number/);
    }
    assert.ok(screens > 0, `${what} showed nothing`);
  }
});

test("htop", "frozen in the middle of its work it looks as in tmux", async () => {
  await using tmux = await TmuxFixture.start();
  const pidFile = `${tmux.folder}/pid`;
  await tmux.session(name, `sh -c 'echo $$ > ${pidFile}; exec htop -d 2'`);
  const client = tmux.connect(name);
  client.init(100, 30);
  await using oracle = await Oracle.of(tmux, name);
  await client.shows(/PID/);
  const pid = Number(await Deno.readTextFile(pidFile));
  const random = seeded(7);
  for (const key of ["", "t", "\x1b[B\x1b[B", " ", "/sh", "\x1b", "H", "M", "I"]) {
    client.type(key);
    for (let i = below(random, 6); i > 0; i--) {
      client.send({ type: "resize", cols: 20 + below(random, 120), rows: 8 + below(random, 40) });
    }
    const { frames } = client;
    await until("htop draws", () => client.frames > frames + 1);
    Deno.kill(pid, "SIGSTOP");
    await oracle.agrees(client, `htop after ${JSON.stringify(key)}`);
    Deno.kill(pid, "SIGCONT");
  }
});
