import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { ArmoryDistribution } from "../../bridge/armory/distribution.ts";
import type { PushTarget } from "../../bridge/armory/push.ts";
import { Armory } from "../../bridge/armory/serve.ts";
import { shipApi } from "../../shared/api/ship_api.ts";
import { systemClock } from "../../shared/clock.ts";
import { fail } from "../../shared/errors.ts";
import { EventHub } from "../../shared/event_hub.ts";
import { listen, type Listener } from "../../shared/host/listen.ts";
import { Client } from "../../shared/http/client.ts";
import { router } from "../../shared/http/router.ts";
import type { ShipName } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import type { ArmoryPush, ArmorySyncState } from "../../shared/schema/armory.ts";
import type { ShipStatus } from "../../shared/schema/ship.ts";
import { until } from "../support/listen_support.ts";

/** The two armory routes of a ship, behind the real router: what was pushed, and what it answers. */
class ScriptedShip implements AsyncDisposable {
  readonly pushes: ArmoryPush[] = [];
  status: ShipStatus = "online";
  /** Runs before a push is answered. */
  work: () => Promise<void> = () => Promise.resolve();
  running = 0;
  runningMax = 0;
  #listener!: Listener;
  readonly #client: () => Client<typeof shipApi>;

  constructor(readonly name: ShipName) {
    const client = { table: shipApi, timeoutMs: 5_000, replyBytesMax: 1 << 20 };
    this.#client = () => new Client({ ...client, baseUrl: this.#listener.url });
  }

  static async open(name: string): Promise<ScriptedShip> {
    const ship = new ScriptedShip(name as ShipName);
    const { armoryState, syncArmory } = shipApi;
    const fetch = router({
      table: { armoryState, syncArmory },
      gate: { identify: () => null, authorize: () => {} },
      log: silentLog,
      handlers: {
        armoryState: () => ship.state,
        syncArmory: async ({ body }) => {
          ship.pushes.push(body);
          ship.runningMax = Math.max(ship.runningMax, ++ship.running);
          await ship.work().finally(() => ship.running -= 1);
          return ship.state;
        },
      },
    });
    ship.#listener = await listen({ hostname: "127.0.0.1", port: 0, fetch });
    return ship;
  }

  get state(): ArmorySyncState {
    const revision = this.pushes.at(-1)?.revision ?? null;
    const none = { bridgeUrl: null, syncedAt: null, install: null, lastError: null };
    return { revision, fileCount: 0, ...none };
  }

  get link(): PushTarget {
    // deno-lint-ignore no-this-alias -- the status is read anew each time, as a link's is
    const ship = this;
    return {
      name: this.name,
      client: this.#client(),
      get status() {
        return ship.status;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.shutdown();
  }
}

async function setUp(...names: string[]) {
  await using stack = new AsyncDisposableStack();
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "grid-push-" }));
  stack.defer(() => Deno.remove(root, { recursive: true }));
  const ships: ScriptedShip[] = [];
  for (const name of names) ships.push(stack.use(await ScriptedShip.open(name)));
  const directory = join(root, "armory");
  const arrivals = new EventHub<PushTarget>();
  const links = ships.map((ship) => ship.link);
  const armory = new Armory({ directory, clock: systemClock, log: silentLog });
  const distribution = stack.use(
    new ArmoryDistribution({
      armory,
      fleet: { arrivals, links: () => links },
      bridgeUrl: () => "http://bridge.example:4800",
      clock: systemClock,
      log: silentLog,
    }),
  );
  const owned = stack.move();
  return {
    ships,
    links,
    arrivals,
    armory,
    distribution,
    directory,
    async put(path: string, text: string) {
      await Deno.mkdir(dirname(join(directory, path)), { recursive: true });
      await Deno.writeTextFile(join(directory, path), text);
    },
    /** Waits until the ship has been told of what the armory is now. */
    async told(ship: ScriptedShip, what: string) {
      const { revision } = await armory.manifest();
      await until(what, () => ship.pushes.at(-1)?.revision === revision);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

Deno.test("every online ship is told at the start, each that arrives, and of each change", async () => {
  await using grid = await setUp("aurora", "borealis");
  const [aurora, borealis] = grid.ships as [ScriptedShip, ScriptedShip];
  borealis.status = "offline";
  grid.distribution.start();
  await grid.told(aurora, "the start");
  assert.equal(aurora.pushes[0]!.bridgeUrl, "http://bridge.example:4800");
  await grid.put("skills/a/SKILL.md", "one");
  await grid.told(aurora, "an armory that appeared");
  assert.deepEqual(borealis.pushes, [], "offline");
  borealis.status = "online";
  grid.arrivals.publish(grid.links[1]!);
  await grid.told(borealis, "its arrival");
  await grid.put("skills/a/SKILL.md", "two");
  await Promise.all(grid.ships.map((ship) => grid.told(ship, "a change")));
});

Deno.test("changes of every kind are seen: new folders, editors' renames, modes, removals, replacement", async () => {
  await using grid = await setUp("aurora");
  const ship = grid.ships[0]!;
  grid.distribution.start();
  await grid.put("skills/a/SKILL.md", "one");
  await grid.told(ship, "the armory's creation");
  await grid.put("skills/deep/er/file.md", "x");
  await grid.told(ship, "a file in new folders");
  const path = join(grid.directory, "skills/a/SKILL.md");
  await Deno.writeTextFile(`${path}~`, "saved by an editor");
  await Deno.rename(`${path}~`, path);
  await grid.told(ship, "a save by rename");
  await Deno.chmod(path, 0o755);
  await grid.told(ship, "a mode");
  await Deno.remove(join(grid.directory, "skills/deep"), { recursive: true });
  await grid.told(ship, "a removal");
  await Deno.rename(grid.directory, `${grid.directory}.old`);
  await grid.told(ship, "the armory's removal");
  await Deno.rename(`${grid.directory}.old`, grid.directory);
  await grid.told(ship, "the armory's return");
  await Deno.writeTextFile(path, "after all that");
  await grid.told(ship, "a change after its return");
});

Deno.test("a burst of changes is one push or few, and the last counts", async () => {
  await using grid = await setUp("aurora");
  const ship = grid.ships[0]!;
  grid.distribution.start();
  await grid.put("skills/0", "x");
  await grid.told(ship, "the first");
  const before = ship.pushes.length;
  for (let index = 0; index < 200; index += 1) await grid.put(`skills/${index}`, "burst");
  await grid.told(ship, "the burst");
  assert.ok(ship.pushes.length - before <= 10, `${ship.pushes.length - before} pushes`);
});

Deno.test("one push to a ship at a time; what comes meanwhile is one more", async () => {
  await using grid = await setUp("aurora");
  const ship = grid.ships[0]!;
  const gate = Promise.withResolvers<void>();
  ship.work = () => gate.promise;
  grid.distribution.start();
  await until("the first push", () => ship.pushes.length === 1);
  for (let index = 0; index < 5; index += 1) grid.arrivals.publish(ship.link);
  gate.resolve();
  await until("the second push", () => ship.pushes.length === 2);
  await until("its end", () => ship.running === 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(ship.pushes.length, 2);
  assert.equal(ship.runningMax, 1);
});

Deno.test("a ship that fails or hangs holds up nobody, and hears of the next change", async () => {
  await using grid = await setUp("failing", "hanging", "fine");
  const [failing, hanging, fine] = grid.ships as [ScriptedShip, ScriptedShip, ScriptedShip];
  const gate = Promise.withResolvers<void>();
  failing.work = () => Promise.reject(fail("armoryInstallFailed", { why: "no" }));
  hanging.work = () => gate.promise;
  grid.distribution.start();
  await grid.told(fine, "the start");
  await grid.put("skills/a", "x");
  await grid.told(fine, "a change");
  await grid.told(failing, "a change, after it failed");
  gate.resolve();
  await grid.told(hanging, "a change, late");
});

Deno.test("a broken map stops pushes until it is mended", async () => {
  await using grid = await setUp("aurora");
  const ship = grid.ships[0]!;
  await grid.put("skills/a", "x");
  grid.distribution.start();
  await grid.told(ship, "the start");
  const before = ship.pushes.length;
  await grid.put("dotfile-map.json", "{");
  await grid.put("skills/a", "y");
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(ship.pushes.length, before);
  await grid.put("dotfile-map.json", "{}");
  await grid.told(ship, "the mended map");
});

Deno.test("the ships' states: null for one that is offline or fails", async () => {
  await using grid = await setUp("aurora", "borealis");
  grid.ships[1]!.status = "offline";
  const states = await grid.distribution.states();
  assert.deepEqual(states.map(({ ship, status, state }) => [ship, status, state === null]), [
    ["aurora", "online", false],
    ["borealis", "offline", true],
  ]);
});
