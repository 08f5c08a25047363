import type { Buffer } from "node:buffer";
import { type RawData, WebSocket } from "ws";
import {
  cutCloseReason,
  isSendableCloseCode,
  type Socket,
  socketEarlyMessagesMax,
  socketEarlyTextMax,
} from "../http/socket.ts";

/** Time between two pings; a peer that answered nothing in between is terminated. */
export const socketHeartbeatMs = 10_000;

/** Largest message accepted where the caller names no bound of its own. */
export const socketPayloadBytesMax = 1_572_992;

/** How long the peer has to answer a close frame before the connection is dropped. */
export const socketCloseTimeoutMs = 5_000;

/**
 * How long a peer that is done itself, because it sent a close frame or broke the protocol, has to end the
 * connection. Who waits for its end (a terminal's guard) must not wait for its manners.
 */
const leavingMs = 500;

/** npm `ws` answers a peer's close frame, and a broken peer, by itself; this one tells when it does. */
export class TellingWebSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    super.close(code, data);
    this.emit("closing", code ?? 1005, data?.toString() ?? "");
  }
}

/**
 * What npm `ws` is told about compression. Messages repeat what went before them, so small ones pay too (the
 * threshold counts only for a peer that wants no context kept). Level 7 saves 3 % of a full-screen program's
 * bytes over zlib's default and takes 4 ms instead of 2 for the largest frame; level 8 takes 12.
 */
export const socketDeflateOptions = {
  threshold: 32,
  concurrencyLimit: 4,
  zlibDeflateOptions: { level: 7 },
} as const;

type Message = { kind: "text"; text: string } | { kind: "binary" };

/**
 * A {@link Socket} over an open npm `ws` socket, with its heartbeat.
 *
 * Everything is attached in the constructor, so construct it in the same turn in which `ws`
 * reported the open socket: a message can then not slip past.
 */
export class WsSocket implements Socket {
  readonly #ws: TellingWebSocket;
  #text: ((text: string) => void) | undefined;
  #binary: (() => void) | undefined;
  #sent: (() => void) | undefined;
  #closeHandlers: ((code: number, reason: string) => void)[] = [];
  #early: Message[] = [];
  #earlyTextLength = 0;
  #overflowed = false;
  #ended: { code: number; reason: string } | undefined;
  #terminated = false;
  #heartbeat: ReturnType<typeof setInterval>;
  #heard = true;
  /** Set once we close on our own account: the peer then has the time that ws gives it. */
  #closing = false;
  #broken = false;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(ws: TellingWebSocket, heartbeatMs: number = socketHeartbeatMs) {
    this.#ws = ws;
    // ws answers a broken peer by itself (1002, 1007, 1009) and then reports the close.
    ws.on("error", () => this.#broken = true);
    ws.on(
      "closing",
      (code: number, reason: string) => this.#leave(code, reason),
    );
    ws.on("message", (data, isBinary) => this.#receive(data, isBinary));
    ws.on("pong", () => this.#heard = true);
    ws.on("ping", () => this.#heard = true);
    ws.on("close", (code, reason) => this.#end(code, reason.toString()));
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
  }

  get bufferedBytes(): number {
    return this.closed ? 0 : this.#ws.bufferedAmount;
  }

  get closed(): boolean {
    return this.#terminated || this.#ended !== undefined;
  }

  send(text: string): void {
    if (this.closed || this.#ws.readyState !== this.#ws.OPEN) return;
    // The callback takes the error of a connection that breaks while sending; the close follows.
    this.#ws.send(text, { binary: false }, (error) => {
      if (error == null) this.#sent?.();
    });
  }

  pause(): void {
    if (!this.closed) this.#ws.pause();
  }

  resume(): void {
    if (!this.closed && this.#ws.isPaused) this.#ws.resume();
  }

  onSent(handler: () => void): void {
    this.#sent = handler;
  }

  close(code: number, reason = ""): void {
    if (this.closed) return;
    // The peer's answer must be read.
    this.resume();
    this.#closing = true;
    if (code === 1005) this.#ws.close();
    else this.#ws.close(isSendableCloseCode(code) ? code : 1011, cutCloseReason(reason));
  }

  terminate(): void {
    this.#drop(1006, "");
  }

  onText(handler: (text: string) => void): void {
    this.#text = handler;
    this.#flushSoon();
  }

  onBinary(handler: () => void): void {
    this.#binary = handler;
    this.#flushSoon();
  }

  onClose(handler: (code: number, reason: string) => void): void {
    const ended = this.#ended;
    if (ended === undefined) this.#closeHandlers.push(handler);
    else queueMicrotask(() => handler(ended.code, ended.reason));
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.closed || this.#overflowed) return;
    this.#heard = true;
    const message: Message = isBinary
      ? { kind: "binary" }
      : { kind: "text", text: data.toString() };
    if (this.#early.length === 0 && this.#text !== undefined) this.#deliver(message);
    else this.#keep(message);
  }

  #keep(message: Message): void {
    if (
      this.#early.length >= socketEarlyMessagesMax || this.#earlyTextLength > socketEarlyTextMax
    ) {
      this.#overflowed = true;
      this.#early = [];
      this.close(1009, "too many messages before anyone listened");
      return;
    }
    this.#early.push(message);
    if (message.kind === "text") this.#earlyTextLength += message.text.length;
  }

  // In a microtask, so that a caller setting both handlers in one turn has both in place.
  #flushSoon(): void {
    if (this.#early.length > 0) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    while (this.#text !== undefined && !this.#terminated) {
      const message = this.#early.shift();
      if (message === undefined) break;
      this.#deliver(message);
    }
    if (this.#early.length === 0) this.#earlyTextLength = 0;
  }

  #deliver(message: Message): void {
    switch (message.kind) {
      case "text":
        return this.#text?.(message.text);
      case "binary":
        return this.#binary?.();
    }
  }

  #leave(code: number, reason: string): void {
    if (this.#closing || this.closed) return;
    this.#leaving ??= setTimeout(() => {
      if (this.#broken) this.#drop(1006, "");
      else this.#drop(code, reason);
    }, leavingMs);
  }

  #drop(code: number, reason: string): void {
    if (this.closed) return;
    this.#terminated = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#leaving);
    this.#ws.terminate();
    // ws reports the close only after its inflater has finished; owners need not wait for that.
    // Not in this turn either: a handler must not run inside the call that provoked it.
    queueMicrotask(() => this.#end(code, reason));
  }

  #beat(): void {
    if (!this.#heard) return this.terminate();
    this.#heard = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping(undefined, undefined, () => {});
  }

  #end(code: number, reason: string): void {
    if (this.#ended !== undefined) return;
    // What came before the close is delivered before it, or later once somebody listens: the
    // last words of a socket that opened and closed at once must not be lost.
    this.#flush();
    this.#ended = { code, reason };
    clearInterval(this.#heartbeat);
    clearTimeout(this.#leaving);
    const handlers = this.#closeHandlers;
    this.#closeHandlers = [];
    for (const handler of handlers) handler(code, reason);
  }
}
