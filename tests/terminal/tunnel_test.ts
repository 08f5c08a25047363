import assert from "node:assert/strict";
import { type DialUpstream, tunnel } from "../../bridge/routing/tunnel.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { type MemorySocket, socketPair } from "../support/memory_socket.ts";

const init = '{"type":"init","cols":80,"rows":24}';

class Pipe {
  /** What the user holds, what the ship holds. */
  readonly user: MemorySocket;
  readonly ship: MemorySocket;
  readonly bridgeToUser: MemorySocket;
  readonly bridgeToShip: MemorySocket;
  readonly over: Promise<void>;
  readonly answer = Promise.withResolvers<Socket | null>();

  constructor(dial?: DialUpstream) {
    [this.user, this.bridgeToUser] = socketPair();
    [this.ship, this.bridgeToShip] = socketPair();
    this.user.onText(() => {});
    this.ship.onText(() => {});
    this.over = tunnel(this.bridgeToUser, dial ?? (() => this.answer.promise));
  }
  static open(): Pipe {
    const pipe = new Pipe();
    pipe.answer.resolve(pipe.bridgeToShip);
    return pipe;
  }
  async bothClose(ending: { code: number; reason: string }): Promise<void> {
    await this.user.until(() => this.user.closed);
    await this.ship.until(() => this.ship.closed);
    assert.deepEqual(this.user.closeSeen, ending);
    assert.deepEqual(this.ship.closeSeen, ending);
    await this.over;
  }
}

Deno.test("frames pass both ways: the client's in plain form, the server's untouched", async () => {
  const pipe = Pipe.open();
  pipe.user.send(' {"cols":80, "rows":24,"type":"init","more":1}');
  await pipe.ship.until(() => pipe.ship.received.length === 1);
  assert.deepEqual(pipe.ship.received, [init]);
  const odd = '{ "type" : "of the ship alone" }';
  pipe.ship.send(odd);
  await pipe.user.until(() => pipe.user.received.length === 1);
  assert.deepEqual(pipe.user.received, [odd]);
  pipe.user.close(1000);
  await pipe.bothClose({ code: 1000, reason: "" });
});

Deno.test("frames wait for the ship, in order", async () => {
  const pipe = new Pipe();
  pipe.user.send(init);
  pipe.user.send('{"type":"input","data":"a"}');
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(pipe.ship.received, []);
  pipe.answer.resolve(pipe.bridgeToShip);
  await pipe.ship.until(() => pipe.ship.received.length === 2);
  assert.deepEqual(pipe.ship.received, [init, '{"type":"input","data":"a"}']);
  pipe.ship.close(1008, "terminal init timeout");
  await pipe.bothClose({ code: 1008, reason: "terminal init timeout" });
});

Deno.test("an owner that is unknown or cannot be reached is exit 1", async () => {
  for (const dial of [() => Promise.resolve(null), () => Promise.reject(new Error("refused"))]) {
    const pipe = new Pipe(dial);
    await pipe.user.until(() => pipe.user.closed);
    assert.deepEqual(pipe.user.received, ['{"type":"exit","code":1}']);
    assert.deepEqual(pipe.user.closeSeen, { code: 1000, reason: "" });
    await pipe.over;
  }
});

Deno.test("a bad or binary frame ends both sides with its code", async () => {
  const invalid = { code: 1008, reason: "Invalid terminal message" };
  const binary = { code: 1003, reason: "Binary terminal messages are not supported" };
  for (const text of ["{", "7", '{"type":"resize","cols":0,"rows":1}']) {
    const pipe = Pipe.open();
    pipe.user.send(text);
    await pipe.bothClose(invalid);
    assert.deepEqual(pipe.ship.received, []);
  }
  const fromUser = Pipe.open();
  await Promise.resolve();
  fromUser.user.sendBinary();
  await fromUser.bothClose(binary);
  const fromShip = Pipe.open();
  await new Promise((resolve) => setTimeout(resolve, 0));
  fromShip.ship.sendBinary();
  await fromShip.bothClose(binary);
});

Deno.test("more than 256 KiB waiting, on either side, ends both with 1009", async () => {
  const overflow = { code: 1009, reason: "Terminal buffer limit exceeded" };
  const early = new Pipe();
  for (let i = 0; i < 5; i++) {
    early.user.send(JSON.stringify({ type: "input", data: "x".repeat(60 * 1024) }));
  }
  await early.user.until(() => early.user.closed);
  early.answer.resolve(early.bridgeToShip);
  await early.bothClose(overflow);

  const up = Pipe.open();
  await new Promise((resolve) => setTimeout(resolve, 0));
  up.bridgeToShip.bufferedBytes = 256 * 1024 + 1;
  up.user.send(init);
  await up.bothClose(overflow);

  const down = Pipe.open();
  await new Promise((resolve) => setTimeout(resolve, 0));
  down.bridgeToUser.bufferedBytes = 256 * 1024;
  down.ship.send("fits");
  await down.user.until(() => down.user.received.length === 1);
  down.bridgeToUser.bufferedBytes = 256 * 1024 + 1;
  down.ship.send("does not");
  await down.bothClose(overflow);
});

Deno.test("a client that leaves while the ship is dialled aborts the dial and closes a late answer", async () => {
  let signal: AbortSignal | undefined;
  const answer = Promise.withResolvers<Socket | null>();
  const pipe = new Pipe((aborted) => {
    signal = aborted;
    return answer.promise;
  });
  pipe.user.close(4001, "gone");
  await pipe.user.until(() => pipe.user.closed);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(signal?.aborted, true);
  answer.resolve(pipe.bridgeToShip);
  await pipe.bothClose({ code: 4001, reason: "gone" });
});
