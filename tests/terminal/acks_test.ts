import assert from "node:assert/strict";
import { ManualClock } from "../../shared/clock.ts";
import { Acks } from "../../shared/terminal/acks.ts";
import type { ClientFrame } from "../../shared/terminal/protocol.ts";

function rig() {
  const clock = new ManualClock();
  const sent: ClientFrame[] = [];
  const acks = new Acks({ clock, send: (frame) => void sent.push(frame) });
  const arrived = (seq: number, characters = 100) =>
    acks.answer([{ type: "ack", seq }], characters);
  return { clock, sent, acks, arrived };
}

Deno.test("a lone frame is acknowledged late, and once", async () => {
  const { clock, sent, arrived } = rig();
  arrived(1);
  await clock.advance(31);
  assert.deepEqual(sent, []);
  await clock.advance(1);
  assert.deepEqual(sent, [{ type: "ack", seq: 1 }]);
  await clock.advance(1_000);
  assert.equal(sent.length, 1);
});

Deno.test("a second frame is acknowledged at once, for both", async () => {
  const { clock, sent, arrived } = rig();
  arrived(1);
  arrived(2);
  assert.deepEqual(sent, [{ type: "ack", seq: 2 }]);
  await clock.advance(1_000);
  assert.equal(sent.length, 1);
  arrived(3);
  assert.equal(sent.length, 1);
});

Deno.test("a large frame is acknowledged at once", () => {
  const { sent, arrived } = rig();
  arrived(1, 8 * 1024 + 1);
  assert.deepEqual(sent, [{ type: "ack", seq: 1 }]);
});

Deno.test("a resync does not wait", () => {
  const { sent, acks } = rig();
  acks.answer([{ type: "ack", seq: 1 }, { type: "resync" }], 100);
  assert.deepEqual(sent, [{ type: "resync" }]);
});

Deno.test("what waits at the end is not sent", async () => {
  const { clock, sent, acks, arrived } = rig();
  arrived(1);
  acks[Symbol.dispose]();
  await clock.advance(1_000);
  assert.deepEqual(sent, []);
});
