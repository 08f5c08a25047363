import assert from "node:assert/strict";
import { ManualClock } from "../../shared/clock.ts";
import { type FrameKind, Pacer } from "../../ship/terminal/pacer.ts";

class Desk {
  readonly clock = new ManualClock();
  readonly sent: string[] = [];
  changes = true;
  more = false;
  characters = 100;
  updating = false;
  readonly pacer = new Pacer({
    clock: this.clock,
    draw: (kind: FrameKind) => {
      if (!this.changes && kind === "patch") return null;
      this.sent.push(`${kind}@${this.clock.monotonicMs()}`);
      return { seq: this.sent.length, characters: this.characters, more: this.more };
    },
    updating: () => this.updating,
  });
  /** Past the opening snapshot, acknowledged, with the interval gone. */
  static open(): Desk {
    const desk = new Desk();
    desk.pacer.changed();
    desk.clock.advance(100);
    desk.pacer.acked(1);
    desk.sent.length = 0;
    desk.sent.push("snapshot");
    return desk;
  }
  get news(): string[] {
    return this.sent.slice(1);
  }
}

Deno.test("the first snapshot waits for tmux's first output to settle, or half a second", () => {
  const prompt = new Desk();
  prompt.clock.advance(30);
  assert.deepEqual(prompt.sent, []);
  prompt.pacer.changed();
  prompt.clock.advance(3);
  assert.deepEqual(prompt.sent, []);
  prompt.clock.advance(1);
  assert.deepEqual(prompt.sent, ["snapshot@34"]);
  const silent = new Desk();
  silent.clock.advance(1000);
  assert.deepEqual(silent.sent, ["snapshot@500"]);
});

Deno.test("a change goes out at once after a rest, the next after the interval", () => {
  const desk = Desk.open();
  desk.pacer.changed();
  assert.deepEqual(desk.news, ["patch@100"]);
  desk.pacer.changed();
  desk.clock.advance(15);
  assert.equal(desk.news.length, 1);
  desk.clock.advance(1);
  assert.deepEqual(desk.news, ["patch@100", "patch@116"]);
});

Deno.test("after input the interval is two milliseconds", () => {
  const desk = Desk.open();
  desk.pacer.changed();
  desk.clock.advance(5);
  desk.pacer.typed();
  desk.pacer.changed();
  assert.deepEqual(desk.news, ["patch@100", "patch@105"]);
});

Deno.test("two frames unacknowledged stop the next until an ack", () => {
  const desk = Desk.open();
  for (let i = 0; i < 5; i++) {
    desk.pacer.changed();
    desk.clock.advance(20);
  }
  assert.equal(desk.news.length, 2);
  desk.pacer.acked(2);
  assert.equal(desk.news.length, 3);
  desk.pacer.acked(99);
  desk.pacer.changed();
  desk.clock.advance(20);
  assert.equal(desk.news.length, 3, "an ack of a frame never sent gives no credit");
});

Deno.test("a resync and a resize wait for credit like everything else", () => {
  const desk = Desk.open();
  for (let i = 0; i < 2; i++) {
    desk.pacer.changed();
    desk.clock.advance(20);
  }
  desk.pacer.resync();
  desk.pacer.resized();
  desk.clock.advance(1000);
  assert.equal(desk.news.length, 2);
  desk.pacer.acked(3);
  assert.deepEqual(desk.news.slice(2), ["snapshot@1140"]);
});

Deno.test("five seconds without an ack: one snapshot, and on", () => {
  const desk = Desk.open();
  desk.pacer.changed();
  desk.clock.advance(20);
  desk.pacer.changed();
  const stalledMs = desk.clock.monotonicMs();
  desk.changes = false;
  desk.clock.advance(4_999);
  assert.equal(desk.news.length, 2);
  desk.clock.advance(1);
  assert.deepEqual(desk.news.slice(2), [`snapshot@${stalledMs + 5_000}`]);
  desk.clock.advance(20_000);
  assert.equal(desk.news.length, 3, "a quiet screen needs no second");
  desk.changes = true;
  desk.pacer.changed();
  assert.equal(desk.news.length, 4);
  desk.pacer.changed();
  desk.clock.advance(4_999);
  assert.equal(desk.news.length, 4);
  desk.clock.advance(1);
  assert.equal(desk.news.length, 5);
});

Deno.test("an ack in time ends the stall", () => {
  const desk = Desk.open();
  desk.pacer.changed();
  desk.clock.advance(20);
  desk.pacer.changed();
  desk.clock.advance(4_000);
  desk.pacer.acked(2);
  desk.clock.advance(10_000);
  assert.equal(desk.news.length, 2);
});

Deno.test("a large frame takes the whole credit", () => {
  const desk = Desk.open();
  desk.characters = 130_000;
  desk.more = true;
  desk.pacer.changed();
  desk.clock.advance(100);
  assert.equal(desk.news.length, 1);
  desk.pacer.acked(2);
  assert.equal(desk.news.length, 2);
});

Deno.test("a snapshot after a resize waits for output, fifty milliseconds at most", () => {
  const desk = Desk.open();
  desk.pacer.resized();
  desk.clock.advance(49);
  assert.deepEqual(desk.news, []);
  desk.clock.advance(1);
  assert.deepEqual(desk.news, ["snapshot@150"]);
  desk.pacer.acked(2);
  desk.pacer.resized();
  desk.clock.advance(10);
  desk.pacer.changed();
  desk.clock.advance(4);
  assert.deepEqual(desk.news, ["snapshot@150", "snapshot@164"]);
});

Deno.test("an update that should be seen whole is waited for, not for ever", () => {
  const desk = Desk.open();
  desk.updating = true;
  desk.pacer.changed();
  desk.clock.advance(10);
  assert.deepEqual(desk.news, []);
  desk.updating = false;
  desk.pacer.changed();
  assert.deepEqual(desk.news, ["patch@110"]);
  desk.updating = true;
  desk.pacer.changed();
  desk.clock.advance(50);
  assert.deepEqual(desk.news, ["patch@110", "patch@160"]);
});

Deno.test("disposed, it says nothing more", () => {
  const desk = Desk.open();
  desk.pacer.changed();
  desk.pacer.changed();
  desk.pacer[Symbol.dispose]();
  desk.clock.advance(60_000);
  assert.equal(desk.news.length, 1);
});
