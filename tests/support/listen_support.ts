import { connect, type Socket as NetSocket } from "node:net";
import { Buffer } from "node:buffer";
import type { Socket } from "../../shared/http/socket.ts";
import { listen, type Listener } from "../../shared/host/listen.ts";
import type { Connection, UpgradeOptions } from "../../shared/http/connection.ts";
import { type RelayLimits } from "../../shared/host/relay_limits.ts";

/** A promise that is settled from outside. */
export function deferred<T>(): ReturnType<typeof Promise.withResolvers<T>> {
  return Promise.withResolvers<T>();
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until `condition` holds; fails after `waitMs`. */
export async function until(
  what: string,
  condition: () => boolean,
  waitMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${waitMs} ms: ${what}`);
    await sleep(5);
  }
}

/** Fails when `work` does not settle within `waitMs`. */
export async function within<T>(what: string, work: Promise<T>, waitMs = 10_000): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${waitMs} ms: ${what}`)), waitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

type Handler = (request: Request, connection: Connection) => Response | Promise<Response>;

/** Serves `fetch` on a free loopback port while `use` runs, then shuts down. */
export async function withListener(
  fetch: Handler,
  use: (listener: Listener) => Promise<void>,
  limits: Partial<RelayLimits> = {},
): Promise<void> {
  const listener = await listen({
    hostname: "127.0.0.1",
    port: 0,
    fetch,
    limits: { sweepMs: 20, shutdownGraceMs: 500, shutdownMs: 2000, ...limits },
  });
  try {
    await use(listener);
  } finally {
    await listener.shutdown();
  }
}

/** A handler that upgrades everything and hands the sockets out. */
export function upgrading(
  options: Omit<UpgradeOptions, "onSocket">,
): { fetch: Handler; next: () => Promise<Socket> } {
  const ready: Socket[] = [];
  const waiting: ((socket: Socket) => void)[] = [];
  const onSocket = (socket: Socket) => {
    const waiter = waiting.shift();
    if (waiter === undefined) ready.push(socket);
    else waiter(socket);
  };
  return {
    fetch: (request, connection) => connection.upgrade(request, { ...options, onSocket }),
    next: () => {
      const socket = ready.shift();
      if (socket !== undefined) return Promise.resolve(socket);
      return within("an accepted socket", new Promise((resolve) => waiting.push(resolve)));
    },
  };
}

/** A client that writes bytes as told and keeps all it reads. */
export class RawClient implements Disposable {
  readonly socket: NetSocket;
  received: Buffer = Buffer.alloc(0);
  ended = false;
  closed = false;
  receivedBytes = 0;

  constructor(
    port: number,
    options: { keep?: boolean; localAddress?: string; localPort?: number } = {},
  ) {
    const { keep = true, localAddress, localPort } = options;
    this.socket = connect({
      host: "127.0.0.1",
      port,
      ...(localAddress === undefined ? {} : { localAddress }),
      ...(localPort === undefined ? {} : { localPort }),
    });
    this.socket.setNoDelay(true);
    this.socket.on("error", () => {});
    this.socket.on("data", (data: Buffer) => {
      this.receivedBytes += data.length;
      if (keep) this.received = Buffer.concat([this.received, data]);
    });
    this.socket.on("end", () => this.ended = true);
    this.socket.on("close", () => this.closed = true);
  }

  get text(): string {
    return this.received.toString("latin1");
  }

  write(data: string | Uint8Array): void {
    this.socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data);
  }

  /** Waits for text in what was received. */
  async expect(text: string, waitMs = 10_000): Promise<void> {
    await until(
      `${JSON.stringify(text)} from the server`,
      () => this.text.includes(text),
      waitMs,
    );
  }

  async expectEnd(waitMs = 10_000): Promise<void> {
    await until("the server's end of the connection", () => this.ended || this.closed, waitMs);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

/** An upgrade request as a browser would send it. */
export function upgradeHead(extra = "", path = "/"): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${extra}\r\n`;
}

/** One client frame, masked with zeros (RFC 6455, 5.2). */
export function frame(
  payload: Uint8Array | string,
  options: { opcode?: number; final?: boolean; compressed?: boolean } = {},
): Buffer {
  const { opcode = 1, final = true, compressed = false } = options;
  const body = typeof payload === "string" ? Buffer.from(payload) : Buffer.from(payload);
  const first = (final ? 0x80 : 0) | (compressed ? 0x40 : 0) | opcode;
  const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10);
  head[0] = first;
  if (body.length < 126) head[1] = 0x80 | body.length;
  else if (body.length < 65_536) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(body.length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(body.length), 2);
  }
  return Buffer.concat([head, Buffer.alloc(4), body]);
}
