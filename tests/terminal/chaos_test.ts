import assert from "node:assert/strict";
import { sleep, until } from "../support/listen_support.ts";
import { ChaosClient } from "./chaos.ts";
import { corpus } from "./corpus.ts";
import { Oracle } from "./oracle.ts";
import { Player } from "./player.ts";
import { below, type Random, seeded } from "./random_grid.ts";
import { bridgeRoute, type Route, shipRoute } from "./terminal_routes.ts";

const roundsPerSeed = 8;
const sizes = [[80, 24], [200, 50], [40, 12], [7, 3], [2, 2], [1, 1], [1024, 30], [3, 60]] as const;

/** One client's storms on one route, and the oracle's word after each. */
class Day {
  #title = "";
  #size: readonly [number, number] = [80, 24];
  /** What happened since the last calm, for the failure message. */
  #log: string[] = [];

  constructor(
    private readonly client: ChaosClient,
    private readonly player: Player,
    private readonly random: Random,
  ) {}

  async storm(): Promise<void> {
    this.#log = [];
    this.client.storm();
    await this.#play();
    for (let steps = 3 + below(this.random, 8); steps > 0; steps--) {
      await this.#step();
      await sleep(below(this.random, 25));
    }
  }

  /** Ends a storm; nothing but the last of what the session shows counts now. */
  async calm(): Promise<void> {
    const { client } = this;
    client.calm();
    const ending = below(this.random, 3);
    if (ending === 0) await this.#play();
    else if (ending === 1) this.#resize([80, 24]);
    else client.send({ type: "resync" });
    this.#log.push(["calm by a play", "calm by a resize", "calm by a resync"][ending]!);
    const [cols, rows] = this.#size;
    await until(`the end of ${this.log}`, () => {
      const { grid } = client;
      return client.closed ||
        grid?.cols === cols && grid.rows === rows && grid.title === this.#title;
    }).catch((thrown) => assert.fail(`${thrown.message}, "${this.#title}": ${client.state}`));
    assert.equal(client.closed, false, this.log);
    assert.equal(client.broken, null, this.log);
  }

  get log(): string {
    return this.#log.join(", ");
  }

  async #step(): Promise<void> {
    const kind = this.random();
    if (kind < 0.4) await this.#play();
    else if (kind < 0.65) this.#resize(sizes[below(this.random, sizes.length)]!);
    else if (kind < 0.75) await this.#resizeStorm();
    else if (kind < 0.9) {
      this.#log.push("resync");
      this.client.send({ type: "resync" });
    } else {
      this.#log.push("no acks for a while");
      this.client.acking = false;
      await sleep(below(this.random, 200));
      this.client.acking = true;
    }
  }

  async #play(): Promise<void> {
    const [what, bytes] = corpus[below(this.random, corpus.length)]!;
    this.#log.push(what);
    this.#title = await this.player.play(this.client, bytes);
  }

  #resize(size: readonly [number, number]): void {
    const [cols, rows] = this.#size = size;
    this.#log.push(`${cols}x${rows}`);
    this.client.send({ type: "resize", cols, rows });
  }

  async #resizeStorm(): Promise<void> {
    for (let i = 0; i < 8; i++) {
      this.#resize([1 + below(this.random, 100), 1 + below(this.random, 40)]);
      if (this.random() < 0.3) await sleep(below(this.random, 10));
    }
  }
}

async function days(opening: Promise<Route>, seeds: readonly number[]): Promise<void> {
  await using route = await opening;
  const player = new Player(route.folder);
  for (const seed of seeds) {
    const random = seeded(seed);
    const socket = await route.connect();
    const client = new ChaosClient(socket, random);
    client.send({ type: "init", cols: 80, rows: 24 });
    await until("the first screen", () => client.grid !== null);
    const day = new Day(client, player, random);
    await using oracle = await Oracle.of(route.server, route.session);
    for (let round = 0; round < roundsPerSeed; round++) {
      await day.storm();
      await day.calm();
      await oracle.agrees(client, `seed ${seed}, round ${round}: ${day.log}`);
    }
    socket.close(1000);
    await until("it is closed", () => client.closed);
  }
}

Deno.test("after storms of loss, delay, resync and resize a client shows what tmux shows", async () => {
  await days(shipRoute(), [1, 2]);
});

Deno.test("after the same storms through a bridge too", async () => {
  await days(bridgeRoute(), [3, 4]);
});
