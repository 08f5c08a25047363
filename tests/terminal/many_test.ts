/** Two hundred terminals at once: what they cost while nothing happens, and what is left of them. */
import assert from "node:assert/strict";
import { childrenOf } from "../support/grid_process.ts";
import { sleep } from "../support/listen_support.ts";
import { eventually, sessionName, type TestClient, TmuxFixture } from "./terminal_fixture.ts";

const terminals = 200;
/** Open before threads are counted for the first time: the runtime's own have started by then. */
const warmUp = 20;
const openingAtOnce = 10;
/** The runtime adds one to its pool now and then; a thread for each terminal would be 180. */
const newThreadsMax = 18;
const idleMs = 1_000;
/** Of one processor, while a timer a terminal would take many times as much. */
const idleShareMax = 0.25;
/** `/proc/<pid>/stat` counts in these on every Linux that Deno runs on. */
const msPerTick = 10;

const names = Array.from(
  { length: terminals },
  (_, n) => sessionName("0").slice(0, -3) + n.toString(16).padStart(3, "0"),
);

async function threads(): Promise<number> {
  return [...await Array.fromAsync(Deno.readDir("/proc/self/task"))].length;
}

/** Processor time that process has used, its threads included. */
async function usedMs(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  // The name in brackets may hold anything; user and system time are the 12th and 13th after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

/** Opens a terminal of each and waits until it answers a key. */
async function open(tmux: TmuxFixture, sessions: readonly string[]): Promise<TestClient[]> {
  const clients: TestClient[] = [];
  for (let from = 0; from < sessions.length; from += openingAtOnce) {
    const some = sessions.slice(from, from + openingAtOnce).map((name) => tmux.connect(name));
    for (const client of some) client.init(40, 5);
    await Promise.all(some.map(async (client, n) => {
      client.type(`terminal ${from + n}\r`);
      await client.shows(new RegExp(`terminal ${from + n}\\b[^]*terminal ${from + n}\\b`));
    }));
    clients.push(...some);
  }
  return clients;
}

Deno.test("200 terminals: no thread for each, nothing to do when idle, nothing left", async () => {
  const childrenBefore = (await childrenOf(Deno.pid)).length;
  await using tmux = await TmuxFixture.start();
  const start = (name: string) => `new-session -d -s ${name} cat`;
  await Deno.writeTextFile(`${tmux.folder}/start`, names.map(start).join("\n"));
  await tmux.tmux("start-server", ";", "source-file", `${tmux.folder}/start`);
  const clients = await open(tmux, names.slice(0, warmUp));
  const threadsBefore = await threads();
  clients.push(...await open(tmux, names.slice(warmUp)));
  assert.equal(tmux.terminals.open, terminals);
  const newThreads = await threads() - threadsBefore;
  assert.ok(
    newThreads <= newThreadsMax,
    `${newThreads} threads for ${terminals - warmUp} terminals`,
  );

  const server = Number(await tmux.tmux("display-message", "-p", "#{pid}"));
  const used = async () => await usedMs(Deno.pid) + await usedMs(server);
  // The last echo's timers are over by then.
  await sleep(200);
  const framesBefore = clients.reduce((sum, client) => sum + client.frames, 0);
  const usedBefore = await used();
  await sleep(idleMs);
  const share = (await used() - usedBefore) / idleMs;
  assert.ok(share <= idleShareMax, `idle, they take ${share} of a processor`);
  assert.equal(clients.reduce((sum, client) => sum + client.frames, 0), framesBefore);

  for (const client of clients) client.socket.close(1000);
  await eventually("the guards are free", () => Promise.resolve(tmux.terminals.open === 0));
  await eventually("the children are gone", async () => {
    return (await childrenOf(Deno.pid)).length <= childrenBefore;
  });
  assert.deepEqual(await tmux.clients(), []);
});
