/** Frames that break RFC 6455 or its bounds, byte by byte over both terminal routes of real daemons. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { deflateRawSync } from "node:zlib";
import { limits } from "../../shared/limits.ts";
import { terminalClose } from "../../shared/terminal/protocol.ts";
import { frame, type RawClient, until } from "../support/listen_support.ts";
import { DaemonGrid, type Hop, hops } from "./daemon_grid.ts";
import { closeFrameOf } from "./grid_client.ts";

const init = frame('{"type":"init","cols":80,"rows":24}');
const payloadBytesMax = limits.terminalPayloadBytesMax;
/** RFC 6455, 7.4.1; the codes come from the socket's library, without a reason. */
const protocolError = { code: 1002, reason: "" };
const notUtf8 = { code: 1007, reason: "" };
const tooBig = { code: 1009, reason: "" };

/** `bytes` with its first byte, which holds FIN, the reserved bits and the opcode, replaced. */
function opened(first: number, bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed[0] = first;
  return changed;
}

const text = (bytes: readonly number[]) => frame(Uint8Array.from(bytes));
const quoted = (bytes: readonly number[]) =>
  frame(
    Buffer.concat([
      Buffer.from('{"type":"input","data":"'),
      Buffer.from(bytes),
      Buffer.from('"}'),
    ]),
  );

const broken: Readonly<
  Record<string, readonly [readonly Buffer[], { code: number; reason: string }]>
> = {
  "a binary message first": [
    [frame("{}", { opcode: 2 })],
    terminalClose.binary,
  ],
  "a binary message": [
    [init, frame("{}", { opcode: 2 })],
    terminalClose.binary,
  ],
  "an empty binary message": [
    [init, frame("", { opcode: 2 })],
    terminalClose.binary,
  ],
  "binary in fragments": [
    [init, frame("{", { opcode: 2, final: false }), frame("}", { opcode: 0 })],
    terminalClose.binary,
  ],
  "a byte that begins no character": [[init, text([0xff])], notUtf8],
  "an overlong slash": [[init, quoted([0xc0, 0xaf])], notUtf8],
  "half a surrogate pair": [[init, quoted([0xed, 0xa0, 0x80])], notUtf8],
  "a surrogate pair as six bytes": [[
    init,
    quoted([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]),
  ], notUtf8],
  "a code point beyond the last": [
    [init, quoted([0xf4, 0x90, 0x80, 0x80])],
    notUtf8,
  ],
  "a character cut off": [[init, text([0x22, 0xe2, 0x82])], notUtf8],
  "reserved bit 1 without deflate": [[init, opened(0xc1, init)], protocolError],
  "reserved bit 2": [[init, opened(0xa1, init)], protocolError],
  "reserved bit 3": [[opened(0x91, init)], protocolError],
  "an opcode nobody has": [[init, opened(0x83, init)], protocolError],
  "a control opcode nobody has": [[opened(0x8b, frame(""))], protocolError],
  "an unmasked frame": [[init, Buffer.from([0x81, 0x01, 0x37])], protocolError],
  "the rest of a message that never began": [
    [init, frame("x", { opcode: 0 })],
    protocolError,
  ],
  "a message inside another": [
    [init, frame("{", { final: false }), init],
    protocolError,
  ],
  "a ping in fragments": [
    [init, frame("", { opcode: 9, final: false })],
    protocolError,
  ],
  "a ping of 126 bytes": [
    [init, frame("x".repeat(126), { opcode: 9 })],
    protocolError,
  ],
  "a close of one byte": [[init, frame("x", { opcode: 8 })], protocolError],
  "a close with a code for nobody": [[
    init,
    frame(Buffer.from([3, 237]), { opcode: 8 }),
  ], {
    code: 1002,
    reason: "",
  }],
  "a length of 2^63": [
    [init, Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
    tooBig,
  ],
  "a byte more than the largest payload": [[
    init,
    frame("x".repeat(payloadBytesMax + 1)),
  ], tooBig],
  "the announcement of as much": [
    [init, frame("x".repeat(payloadBytesMax + 1)).subarray(0, 14)],
    tooBig,
  ],
};

async function closeFrame(client: RawClient, what: string) {
  await until(`the close after ${what}`, () => closeFrameOf(client) !== null);
  return closeFrameOf(client);
}

Deno.test("what breaks the protocol is closed with its code over both routes, and leaves nothing", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) await grid.workspace(hop);
  await Promise.all(hops.map(async (hop) => {
    for (const [what, [frames, ending]] of Object.entries(broken)) {
      using client = await grid.raw(hop, hop);
      for (const each of frames) client.write(each);
      assert.deepEqual(
        await closeFrame(client, `${what} (${hop})`),
        ending,
        `${what} (${hop})`,
      );
      client.socket.destroy();
      await grid.isFree(hop, hop);
    }
  }));
});

/** Far more than it takes, less than the library would wait for such a peer. */
const freedMs = 4_000;

Deno.test("the guard is freed by the fault or the close, whatever the peer then does not", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) await grid.workspace(hop);
  const goodbye = frame(Buffer.from([3, 232]), { opcode: 8 });
  const wholes: Readonly<Record<string, readonly Buffer[]>> = {
    "a close": [init, goodbye],
    "a binary message": broken["a binary message"]![0],
    "reserved bit 2": broken["reserved bit 2"]![0],
    "too large a payload": broken["a byte more than the largest payload"]![0],
  };
  await Promise.all(hops.map(async (hop) => {
    for (const [what, frames] of Object.entries(wholes)) {
      using client = await grid.raw(hop, hop);
      // It neither answers the close nor ends its side of the connection.
      client.socket.allowHalfOpen = true;
      for (const each of frames) client.write(each);
      await closeFrame(client, what);
      const fromMs = performance.now();
      await grid.isFree(hop, hop);
      const tookMs = performance.now() - fromMs;
      assert.ok(tookMs < freedMs, `${what} (${hop}): ${tookMs} ms`);
    }
  }));
});

Deno.test("a payload of the largest size passes, in one frame or in a thousand", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) {
    await grid.workspace(hop, "stty raw -echo; exec cat >/dev/null");
  }
  // As much input as there may be, every byte escaped to six, and blanks around it.
  const data = "\\u0001".repeat(limits.terminalInputBytesMax);
  const message = `{"type":"input","data":"${data}"}`.padEnd(payloadBytesMax);
  assert.equal(message.length, payloadBytesMax);
  await Promise.all(hops.map(async (hop) => {
    using client = await grid.raw(hop, hop);
    const pictures = () => client.text.split('"type":"snapshot"').length - 1;
    client.write(init);
    await until("a picture", () => pictures() === 1);
    client.write(frame(message));
    client.write(frame('{"type":"resync"}'));
    await until(`a picture after one frame (${hop})`, () => pictures() === 2);
    client.write(frame('{"type":"ack","seq":2}'));
    const size = Math.ceil(message.length / 1000);
    for (let at = 0; at < message.length; at += size) {
      const final = at + size >= message.length;
      client.write(
        frame(message.slice(at, at + size), {
          opcode: at === 0 ? 1 : 0,
          final,
        }),
      );
    }
    client.write(frame('{"type":"resync"}'));
    await until(`a picture after many frames (${hop})`, () => pictures() === 3);
    client.write(frame("", { opcode: 9 }));
    await until(
      "a pong",
      () => client.received.includes(Buffer.from([0x8a, 0])),
    );
    assert.equal(closeFrameOf(client), null);
    client.write(frame(`${message} `));
    assert.deepEqual(await closeFrame(client, "one more"), tooBig);
    client.socket.destroy();
    await grid.isFree(hop, hop);
  }));
});

/** What arrives without end until the other side has had enough. */
const endless: Readonly<Record<string, (client: RawClient) => void>> = {
  "large fragments": (client) => {
    client.write(frame("x".repeat(65_536), { final: false }));
    const more = frame("x".repeat(65_536), { opcode: 0, final: false });
    for (let sent = 0; sent < 512; sent += 1) client.write(more);
  },
  "a bomb of 400 MB in 400 kB": (client) => {
    client.write(
      frame(deflateRawSync(new Uint8Array(400_000_000), { level: 9 }), {
        compressed: true,
      }),
    );
  },
  "a bomb in fragments": (client) => {
    const bomb = deflateRawSync(new Uint8Array(400_000_000), { level: 9 });
    for (let at = 0; at < bomb.length; at += 65_536) {
      const piece = bomb.subarray(at, at + 65_536);
      client.write(
        frame(piece, {
          compressed: at === 0,
          opcode: at === 0 ? 1 : 0,
          final: false,
        }),
      );
    }
    client.write(frame("", { opcode: 0 }));
  },
};
const growthBytesMax = 200_000_000;

Deno.test("fragments without end and deflate bombs close 1009, and memory stays flat", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) await grid.workspace(hop);
  for (const hop of hops) {
    for (const [what, send] of Object.entries(endless)) {
      const peak = await peakGrowth(grid, hop, async () => {
        using client = await grid.raw(hop, hop, { compress: true });
        client.write(init);
        send(client);
        assert.deepEqual(
          await closeFrame(client, `${what} (${hop})`),
          tooBig,
          `${what} (${hop})`,
        );
      });
      assert.ok(
        peak < growthBytesMax,
        `${what} (${hop}): ${peak} bytes more at the peak`,
      );
      await grid.isFree(hop, hop);
    }
  }
});

Deno.test("a message of very many tiny fragments is refused, and memory stays flat", async () => {
  await using grid = await DaemonGrid.start();
  for (const hop of hops) await grid.workspace(hop);
  for (const hop of hops) {
    const peak = await peakGrowth(grid, hop, async () => {
      using client = await grid.raw(hop, hop);
      client.write(init);
      client.write(frame("x", { final: false }));
      const more = Buffer.concat(
        Array(10_000).fill(frame("x", { opcode: 0, final: false })),
      );
      for (let sent = 0; sent < 150; sent += 1) client.write(more);
      // The library's own bound, of 16,384 fragments, and its code.
      const ending = await closeFrame(client, `tiny fragments (${hop})`);
      assert.deepEqual(ending, { code: 1008, reason: "" });
    });
    assert.ok(peak < growthBytesMax, `${hop}: ${peak} bytes more at the peak`);
    await grid.isFree(hop, hop);
  }
});

/** By how many bytes the daemon's resident memory rose at most while `work` ran. */
async function peakGrowth(
  grid: DaemonGrid,
  hop: Hop,
  work: () => Promise<void>,
): Promise<number> {
  const before = await grid.residentBytes(hop);
  let peak = before;
  let over = false;
  const watching = (async () => {
    while (!over) {
      peak = Math.max(peak, await grid.residentBytes(hop));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  try {
    await work();
  } finally {
    over = true;
    await watching;
  }
  return peak - before;
}
