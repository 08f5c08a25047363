/** What a client may not send, over both terminal routes of real daemons: the code, the reason, and no trace. */
import assert from "node:assert/strict";
import { limits } from "../../shared/limits.ts";
import { terminalClose } from "../../shared/terminal/protocol.ts";
import { until } from "../support/listen_support.ts";
import { DaemonGrid, type Hop, hops } from "./daemon_grid.ts";
import type { Close } from "./grid_client.ts";

const init = '{"type":"init","cols":80,"rows":24}';
const { invalid } = terminalClose;

/** Texts of which the last is one too many. */
const refused: Readonly<Record<string, readonly string[]>> = {
  "no JSON": ["{"],
  "no JSON, later": [init, "{"],
  "nothing": [""],
  "a number": ["7"],
  "null": ["null"],
  "an array": ['[{"type":"init","cols":80,"rows":24}]'],
  "no type": ["{}"],
  "an unknown type": ['{"type":"quit"}'],
  "an unknown type, later": [init, '{"type":"quit"}'],
  "a frame of the server": [init, '{"type":"exit","code":0}'],
  "a type in another case": ['{"type":"INIT","cols":80,"rows":24}'],
  "a type that every object has": ['{"type":"__proto__"}'],
  "input first": ['{"type":"input","data":"x"}'],
  "resize first": ['{"type":"resize","cols":80,"rows":24}'],
  "ack first": ['{"type":"ack","seq":0}'],
  "resync first": ['{"type":"resync"}'],
  "a second init": [init, init],
  "a second init at once, after input": [
    init,
    '{"type":"input","data":""}',
    init,
  ],
  "no rows": ['{"type":"init","cols":80}'],
  "a size in words": ['{"type":"init","cols":"80","rows":24}'],
  "no data": [init, '{"type":"input"}'],
  "data that is a number": [init, '{"type":"input","data":1}'],
  "data that is a list": [init, '{"type":"input","data":["x"]}'],
  "a negative seq": [init, '{"type":"ack","seq":-1}'],
  "half a seq": [init, '{"type":"ack","seq":0.5}'],
  "a seq in words": [init, '{"type":"ack","seq":"1"}'],
  "deep nesting": [`${"[".repeat(200_000)}${"]".repeat(200_000)}`],
  "one byte of input too many": [
    init,
    inputOf("x".repeat(limits.terminalInputBytesMax + 1)),
  ],
  "one byte of two-byte input too many": [
    init,
    inputOf("é".repeat(limits.terminalInputBytesMax / 2) + "x"),
  ],
  "one byte of four-byte input too many": [
    init,
    inputOf("😀".repeat(limits.terminalInputBytesMax / 4) + "x"),
  ],
  ...Object.fromEntries(
    ["init", "resize"].flatMap((type) =>
      [
        ["0", "24"],
        ["80", "0"],
        ["-1", "24"],
        ["80", "-1"],
        ["1.5", "24"],
        ["80", "1.5"],
        ["1025", "24"],
        ["80", "513"],
        ["1e999", "24"],
        ["80", "NaN"],
        ["null", "24"],
        ["true", "24"],
      ].map(([cols, rows]) => [
        `${type} to ${cols}x${rows}`,
        [
          ...(type === "init" ? [] : [init]),
          `{"type":"${type}","cols":${cols},"rows":${rows}}`,
        ],
      ])
    ),
  ),
};

function inputOf(data: string): string {
  return JSON.stringify({ type: "input", data });
}

async function endingOf(
  grid: DaemonGrid,
  hop: Hop,
  texts: readonly string[],
): Promise<Close> {
  const client = await grid.connect(hop, hop);
  for (const text of texts) client.socket.send(text);
  return await client.closes();
}

Deno.test("what no message may be closes 1008 over both routes, and leaves nothing", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) await grid.workspace(hop);
  await Promise.all(hops.map(async (hop) => {
    for (const [what, texts] of Object.entries(refused)) {
      assert.deepEqual(
        await endingOf(grid, hop, texts),
        invalid,
        `${what} (${hop})`,
      );
      await grid.isFree(hop, hop);
    }
  }));
});

Deno.test("what a message just may be is taken over both routes", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) {
    await grid.workspace(hop, "stty raw -echo; exec cat >/dev/null");
  }
  await Promise.all(hops.map(async (hop) => {
    const client = await grid.attached(hop, hop);
    for (
      const [cols, rows] of [[1, 1], [1024, 512], [1024, 1], [1, 512], [
        80,
        24,
      ]] as const
    ) {
      client.send({ type: "resize", cols, rows });
      await until(`${cols}x${rows} (${hop})`, () => {
        const { grid } = client.follower;
        return grid?.cols === cols && grid.rows === rows;
      });
    }
    for (const text of ["x", "é", "€", "😀", "\u0000", "\ud800"]) {
      const bytes = new TextEncoder().encode(text).length;
      const data = text.repeat(
        Math.floor(limits.terminalInputBytesMax / bytes),
      );
      client.type(data);
      const before = client.frames;
      client.send({ type: "resync" });
      await until(
        `a picture after ${text} (${hop})`,
        () => client.frames > before,
      );
    }
    client.socket.send(
      '{"type":"ack","seq":9007199254740991,"more":{"than":"asked"}}',
    );
    const { frames } = client;
    client.send({ type: "resync" });
    await until(
      `a picture after a strange ack (${hop})`,
      () => client.frames > frames,
    );
    assert.equal(client.closed, null);
    client.socket.close(1000);
    await client.closes();
    for (const [cols, rows] of [[1, 1], [1024, 512]] as const) {
      const first = await grid.attached(hop, hop);
      first.socket.close(1000);
      await first.closes();
      const extreme = await grid.connect(hop, hop);
      extreme.send({ type: "init", cols, rows });
      await until(`${cols}x${rows} from the start (${hop})`, () => {
        if (extreme.exitCode !== null) {
          throw new Error("the guard was not free");
        }
        return extreme.follower.grid?.cols === cols &&
          extreme.follower.grid.rows === rows;
      });
      extreme.socket.close(1000);
      await extreme.closes();
    }
    await grid.isFree(hop, hop);
  }));
});

Deno.test("an init that does not come in five seconds closes 1008 over both routes", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) await grid.workspace(hop);
  await Promise.all(hops.map(async (hop) => {
    const silent = await grid.connect(hop, hop);
    const second = await grid.connect(hop, hop);
    assert.deepEqual(
      await second.closes(),
      terminalClose.normal,
      "the silent one has the guard",
    );
    assert.equal(second.exitCode, 1);
    assert.deepEqual(await silent.closes(), terminalClose.initTimeout, hop);
    await grid.isFree(hop, hop);
  }));
});
