import { Buffer } from "node:buffer";
import type { Socket as NetSocket } from "node:net";
import { RecentBytes } from "./recent_bytes.ts";
import { type RelayLimits, relayQueueBytesMax, relayReadBytes } from "./relay_limits.ts";

/** One request and its response, as far as deadlines care. */
export interface Exchange {
  /** True while the client may still be sending the body of this request. */
  bodyOpen: boolean;
  /** Since when the handler has been waiting for a piece of the body; undefined if it is not. */
  bodyWaitSince: number | undefined;
  /** True once bytes came that belong to a later request. */
  pipelined: boolean;
  /** True when the response says `Connection: close`; the server behind would not act on it. */
  last: boolean;
}

/**
 * What a relayed connection is doing. The relay does not parse HTTP; the server behind it says
 * when a head is complete (it called the handler) and when a response is done (`completed`).
 *
 * ```
 *  accept ──► head ──handler called──► serving ──response done──► idle
 *              ▲  headMs                │  ▲ bodyIdleMs while the   │ keepAliveIdleMs
 *              │                        │  └ handler waits for body │
 *              │◄───── first byte of the next request ──────────────┘
 *              │◄───── response done, bytes of the next request already here
 *  any state ──server ended──► closing ──client ended, or lingerMs──► gone
 *  serving ──upgrade──► taken (no deadline here: the WebSocket heartbeat rules)
 * ```
 *
 * `serving` has no deadline of its own, so a clone of fifteen minutes or an event stream lives as
 * long as its handler does. In every state but `taken`, a client with bytes waiting for it that
 * takes none for stalledReaderMs is cut. A request pipelined behind a body in one segment is seen
 * only when its handler is called; until then it counts as idle, which is bounded as well.
 */
type Phase =
  | { readonly kind: "head"; readonly since: number }
  | { readonly kind: "serving"; readonly exchange: Exchange }
  | { readonly kind: "idle"; readonly since: number }
  | { readonly kind: "closing"; readonly since: number }
  | { readonly kind: "taken" }
  | { readonly kind: "gone" };

/** A client's socket no longer relayed, and what it sent after the head of its upgrade request. */
export interface TakenConnection {
  readonly socket: NetSocket;
  readonly early: Buffer;
}

// "PRI * HTTP/2.0": the server behind would speak HTTP/2, whose many requests at a time on one
// connection no deadline here can follow.
const http2Preface = Buffer.from("PRI ");

/** One client's connection and its twin on the private port. See {@link Phase} for the rules. */
export class RelayedConnection {
  readonly #client: NetSocket;
  readonly #limits: RelayLimits;
  #upstream: Deno.TcpConn | undefined;
  #onReleased: (() => void) | undefined;
  #phase: Phase = { kind: "head", since: performance.now() };
  #opening: Buffer | undefined = Buffer.alloc(0);
  readonly #recent = new RecentBytes();
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #pumping = false;
  #clientEnded = false;
  #serverDeaf = false;
  #sentBytes = 0;
  #takenBytes = 0;
  #takenSince = performance.now();
  #wakeWriter: (() => void) | undefined;

  constructor(client: NetSocket, limits: RelayLimits) {
    this.#client = client;
    this.#limits = limits;
    client.setNoDelay(true);
    client.on("error", () => {}); // "close" follows, and that is all there is to know
    client.on("data", this.#onData);
    client.on("end", this.#onEnd);
    client.on("drain", this.#onDrain);
    client.once("close", () => this.destroy());
  }

  /** True between requests and before the first is complete: nothing is lost by a cut. */
  get quiet(): boolean {
    return this.#phase.kind === "head" || this.#phase.kind === "idle";
  }

  /**
   * Starts piping to and from the server's end of the private connection. `onReleased` is called
   * when that end is closed: its source port then no longer stands for this client.
   */
  attach(upstream: Deno.TcpConn, onReleased: () => void): void {
    this.#upstream = upstream;
    this.#onReleased = onReleased;
    if (this.#phase.kind === "gone") return this.#release();
    void this.#pumpServer(upstream);
    void this.#pumpClient();
  }

  /** The server called its handler: the head is complete. */
  beginExchange(hasBody: boolean): Exchange {
    const exchange = { bodyOpen: hasBody, bodyWaitSince: undefined, pipelined: false, last: false };
    if (this.#isPiping()) this.#phase = { kind: "serving", exchange };
    return exchange;
  }

  /** The server sent the whole response, or gave up on it. */
  endExchange(exchange: Exchange): void {
    // The handler of the next request may already run: its exchange must not be ended.
    if (this.#phase.kind !== "serving" || this.#phase.exchange !== exchange) return;
    const since = performance.now();
    this.#phase = { kind: exchange.pipelined ? "head" : "idle", since };
    if (!exchange.last) return;
    // The response may still be on its way to us: end our side, and the server ends its own.
    this.#serverDeaf = true;
    this.#upstream?.closeWrite().catch(() => {});
  }

  /**
   * Where the head of the upgrade request with this `Sec-WebSocket-Key` ends among the latest
   * bytes: what follows belongs to the WebSocket. Undefined when the request is not there, which
   * means that it was pipelined behind another one, or preceded by too much.
   */
  findEarlyBytes(key: string): Buffer | undefined {
    return this.#recent.afterHeadWith(key);
  }

  /**
   * Stops relaying and gives the client's socket away, paused; the server sees its end closed.
   * Undefined when the client has gone or ended its side (which is told once: its new owner would never
   * hear of it), or the request cannot be found any more.
   */
  takeOver(key: string): TakenConnection | undefined {
    const early = this.findEarlyBytes(key);
    if (this.#phase.kind !== "serving" || early === undefined || this.#clientEnded) {
      return undefined;
    }
    this.#phase = { kind: "taken" };
    const socket = this.#client;
    socket.pause();
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("drain", this.#onDrain);
    this.#release();
    return { socket, early };
  }

  /** Drops both ends at once, also after a takeover. */
  destroy(): void {
    if (this.#phase.kind === "gone") return;
    this.#phase = { kind: "gone" };
    this.#release();
    this.#client.destroy();
  }

  /** Cuts the connection if it has outstayed a bound. */
  sweep(now: number): void {
    if (this.#isOverdue(now)) this.destroy();
  }

  #isOverdue(now: number): boolean {
    const limits = this.#limits;
    const phase = this.#phase;
    if (phase.kind !== "taken" && this.#isStalled(now)) return true;
    switch (phase.kind) {
      case "head":
        return now - phase.since > limits.headMs;
      case "serving": {
        const waiting = phase.exchange.bodyWaitSince;
        return waiting !== undefined && now - waiting > limits.bodyIdleMs;
      }
      case "idle":
        return now - phase.since > limits.keepAliveIdleMs;
      case "closing":
        return this.#client.writableLength === 0 && now - phase.since > limits.lingerMs;
      case "taken":
      case "gone":
        return false;
    }
  }

  // Progress is whole writes (up to relayReadBytes each) that the operating system took.
  #isStalled(now: number): boolean {
    const pendingBytes = this.#client.writableLength;
    const takenBytes = this.#sentBytes - pendingBytes;
    if (pendingBytes === 0 || takenBytes !== this.#takenBytes) {
      this.#takenBytes = takenBytes;
      this.#takenSince = now;
      return false;
    }
    return now - this.#takenSince > this.#limits.stalledReaderMs;
  }

  #isPiping(): boolean {
    return this.#phase.kind !== "taken" && this.#phase.kind !== "gone" &&
      this.#phase.kind !== "closing";
  }

  #release(): void {
    this.#queue = [];
    this.#recent.clear();
    this.#upstream?.close();
    this.#upstream = undefined;
    this.#onReleased?.();
    this.#onReleased = undefined;
    this.#wakeWriter?.();
  }

  readonly #onData = (data: Buffer): void => {
    const chunk = this.#pastPreface(data);
    if (chunk === undefined || !this.#isPiping()) return;
    if (this.#phase.kind === "idle") this.#phase = { kind: "head", since: performance.now() };
    if (this.#phase.kind === "serving" && !this.#phase.exchange.bodyOpen) {
      this.#phase.exchange.pipelined = true;
    }
    this.#recent.add(chunk);
    if (this.#serverDeaf) return; // it has answered and will end; what still comes is discarded
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > relayQueueBytesMax) this.#client.pause();
    void this.#pumpClient();
  };

  readonly #onEnd = (): void => {
    this.#clientEnded = true;
    void this.#pumpClient();
  };

  readonly #onDrain = (): void => this.#wakeWriter?.();

  // Holds the first four bytes back until they are known not to open HTTP/2.
  #pastPreface(chunk: Buffer): Buffer | undefined {
    if (this.#opening === undefined) return chunk;
    const opening = this.#opening.length === 0 ? chunk : Buffer.concat([this.#opening, chunk]);
    if (opening.length < http2Preface.length) {
      this.#opening = opening;
      return undefined;
    }
    this.#opening = undefined;
    if (!opening.subarray(0, http2Preface.length).equals(http2Preface)) return opening;
    this.destroy();
    return undefined;
  }

  async #pumpClient(): Promise<void> {
    const upstream = this.#upstream;
    if (upstream === undefined || this.#pumping) return;
    this.#pumping = true;
    try {
      for (let chunk = this.#queue.shift(); chunk !== undefined; chunk = this.#queue.shift()) {
        for (let done = 0; done < chunk.length;) {
          done += await upstream.write(done === 0 ? chunk : chunk.subarray(done));
        }
        this.#queuedBytes -= chunk.length;
        if (this.#queuedBytes <= relayQueueBytesMax && this.#isPiping()) this.#client.resume();
      }
      if (this.#clientEnded) await upstream.closeWrite();
    } catch {
      // The server closed early (a body too large, say) or the connection was released. Its
      // answer is still read by the other pump, so only stop writing.
      this.#serverDeaf = true;
      this.#queue = [];
      if (this.#isPiping()) this.#client.resume();
    } finally {
      this.#pumping = false;
    }
  }

  async #pumpServer(upstream: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(relayReadBytes);
    try {
      for (let n = await upstream.read(buffer); n !== null; n = await upstream.read(buffer)) {
        if (!this.#isPiping()) return;
        this.#sentBytes += n;
        if (!this.#client.write(buffer.slice(0, n))) await this.#drained();
      }
    } catch {
      // Reset by the server after its last byte, or released: the same as the end.
    }
    if (!this.#isPiping()) return;
    this.#phase = { kind: "closing", since: performance.now() };
    this.#release();
    // The client's unread bytes are read and dropped, so that its kernel does not answer our end
    // with a reset that would destroy the response on its way.
    this.#client.resume();
    this.#client.end();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeWriter = () => {
        this.#wakeWriter = undefined;
        resolve();
      };
      if (!this.#client.writableNeedDrain) this.#wakeWriter();
    });
  }
}
