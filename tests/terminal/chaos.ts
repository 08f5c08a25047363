/** A client on a bad day, from a seed: it loses frames, sees them late, acks late, asks and resizes at will. */
import type { Socket } from "../../shared/http/socket.ts";
import { limits } from "../../shared/limits.ts";
import { ScreenFollower } from "../../shared/terminal/client.ts";
import type { Grid } from "../../shared/terminal/grid.ts";
import { type ClientFrame, decodeServerFrame } from "../../shared/terminal/protocol.ts";
import { sleep } from "../support/listen_support.ts";
import { below, type Random } from "./random_grid.ts";

const lossShare = 0.2;
const delayMsMax = 12;

export class ChaosClient {
  readonly follower = new ScreenFollower();
  /** What the ship did that it must not, or null. */
  broken: string | null = null;
  closed = false;
  #calm = true;
  /** Frames that came and were not looked at yet; what waits to be sent. Both keep their order. */
  readonly #arrived: string[] = [];
  readonly #leaving: ClientFrame[] = [];
  #receiving = false;
  #sending = false;
  /** Acks wait while this is set, and then only the newest goes. */
  #mute = false;
  #muted: ClientFrame | null = null;
  #sentAck = 0;
  #newestSeq = 0;

  constructor(private readonly socket: Socket, private readonly random: Random) {
    socket.onText((text) => {
      this.#judge(text);
      this.#arrived.push(text);
      void this.#receive();
    });
    socket.onClose(() => this.closed = true);
  }

  get grid(): Grid | null {
    return this.follower.grid;
  }

  /** Where it stands, for a failure's message. */
  get state(): string {
    const { grid } = this;
    const screen = grid === null ? "no screen" : `${grid.cols}x${grid.rows} "${grid.title}"`;
    return `${screen}, frame ${this.#newestSeq}, ack ${this.#sentAck}, ` +
      `${this.#arrived.length} unseen, ${this.#leaving.length} unsent`;
  }

  /** Sends at once: what a user does is late enough. */
  send(frame: ClientFrame): void {
    this.socket.send(JSON.stringify(frame));
  }

  storm(): void {
    this.#calm = false;
  }

  /**
   * From now on every frame is seen, and acknowledged at once. Of a snapshot that it lost a client cannot
   * know, and TCP loses none: one that waits for such a snapshot asks again.
   */
  calm(): void {
    this.#calm = true;
    this.acking = true;
    if (this.grid === null) this.send({ type: "resync" });
  }

  set acking(on: boolean) {
    this.#mute = !on;
    if (on && this.#muted !== null) this.#leave(this.#muted);
    if (on) this.#muted = null;
  }

  /** Numbers come in order, and at most two of them without an ack. */
  #judge(text: string): void {
    const frame = decodeServerFrame(text);
    if (frame === null) this.broken = `not a frame: ${text.slice(0, 200)}`;
    if (frame === null || frame.type === "exit") return;
    if (frame.seq !== this.#newestSeq + 1) this.broken = `${frame.seq} after ${this.#newestSeq}`;
    this.#newestSeq = frame.seq;
    const unacked = frame.seq - this.#sentAck;
    if (unacked > limits.terminalUnackedFramesMax) this.broken = `${unacked} frames unacknowledged`;
  }

  async #receive(): Promise<void> {
    if (this.#receiving) return;
    this.#receiving = true;
    for (let text = this.#arrived[0]; text !== undefined; text = this.#arrived[0]) {
      if (!this.#calm && this.random() < 0.5) await sleep(below(this.random, delayMsMax));
      this.#arrived.shift();
      const frame = decodeServerFrame(text);
      if (!this.#calm && frame !== null && frame.type !== "exit" && this.random() < lossShare) {
        this.#leave({ type: "ack", seq: frame.seq });
        continue;
      }
      const received = this.follower.receive(text);
      if (received.kind !== "exit") { for (const answer of received.send) this.#leave(answer); }
    }
    this.#receiving = false;
  }

  #leave(frame: ClientFrame): void {
    if (this.#mute && frame.type === "ack") {
      this.#muted = frame;
      return;
    }
    this.#leaving.push(frame);
    void this.#sendLeaving();
  }

  async #sendLeaving(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    for (let frame = this.#leaving[0]; frame !== undefined; frame = this.#leaving[0]) {
      if (!this.#calm && this.random() < 0.5) await sleep(below(this.random, delayMsMax));
      this.#leaving.shift();
      if (frame.type === "ack") this.#sentAck = frame.seq;
      this.send(frame);
    }
    this.#sending = false;
  }
}
