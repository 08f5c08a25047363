import { createServer, type Server, type Socket as NetSocket } from "node:net";
import { RelayedConnection } from "./relayed_connection.ts";
import type { RelayLimits } from "./relay_limits.ts";

/** What the relay knows about a connection that reached the private port through it. */
export interface RelayedClient {
  /** Address of the client, without a port; IPv4 in its own form also on a dual-stack socket. */
  readonly remoteAddress: string;
  readonly connection: RelayedConnection;
}

/**
 * Owner of the public port: pipes each connection to the private port of the HTTP server, counts
 * and times them, and knows them again by the source port of the private side.
 */
export class Relay implements Disposable {
  readonly #limits: RelayLimits;
  readonly #privatePort: number;
  readonly #server: Server;
  readonly #open = new Map<RelayedConnection, string>();
  readonly #perAddress = new Map<string, number>();
  readonly #bySourcePort = new Map<number, RelayedClient>();
  readonly #whenEmpty: (() => void)[] = [];
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #accepting = false;

  constructor(privatePort: number, limits: RelayLimits) {
    this.#limits = limits;
    this.#privatePort = privatePort;
    // Half-open, as an HTTP client may end its side and still wait for the response.
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** Opens the public port and returns it. Rejects with the system's error, e.g. EADDRINUSE. */
  async listen(hostname: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host: hostname, port, backlog: 511 }, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    // An accept that fails (out of file descriptors) is retried by the runtime.
    this.#server.on("error", () => {});
    this.#accepting = true;
    this.#sweeper = setInterval(() => this.#sweep(), this.#limits.sweepMs);
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port was bound");
    return address.port;
  }

  /** The client behind a source port of the private side; undefined for a stranger. */
  find(sourcePort: number): RelayedClient | undefined {
    return this.#bySourcePort.get(sourcePort);
  }

  /** Connections open now, upgraded ones included. */
  get size(): number {
    return this.#open.size;
  }

  /** Closes the public port and every connection on which no request is being served. */
  stopAccepting(): void {
    if (!this.#accepting) return;
    this.#accepting = false;
    this.#server.close();
    for (const connection of [...this.#open.keys()]) if (connection.quiet) connection.destroy();
  }

  /** Resolves once no connection is open. */
  emptied(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  /** Drops everything at once. */
  [Symbol.dispose](): void {
    this.stopAccepting();
    clearInterval(this.#sweeper);
    for (const connection of [...this.#open.keys()]) connection.destroy();
  }

  #accept(client: NetSocket): void {
    const remoteAddress = plainAddress(client.remoteAddress ?? "");
    const counted = countedAddress(remoteAddress);
    const count = this.#perAddress.get(counted) ?? 0;
    const isFull = this.#open.size >= this.#limits.connectionsMax ||
      count >= this.#limits.connectionsPerAddressMax;
    if (!this.#accepting || isFull) {
      client.on("error", () => {});
      client.destroy();
      return;
    }
    const connection = new RelayedConnection(client, this.#limits);
    this.#open.set(connection, counted);
    this.#perAddress.set(counted, count + 1);
    client.once("close", () => this.#forget(connection));
    void this.#join({ remoteAddress, connection });
  }

  async #join(relayed: RelayedClient): Promise<void> {
    try {
      const upstream = await Deno.connect({ hostname: "127.0.0.1", port: this.#privatePort });
      upstream.setNoDelay(true);
      const sourcePort = upstream.localAddr.port;
      // Before the first byte goes out, so before the server can ask who it is from.
      this.#bySourcePort.set(sourcePort, relayed);
      relayed.connection.attach(upstream, () => this.#bySourcePort.delete(sourcePort));
    } catch {
      relayed.connection.destroy(); // the server is shutting down
    }
  }

  #forget(connection: RelayedConnection): void {
    const counted = this.#open.get(connection);
    if (counted === undefined) return;
    this.#open.delete(connection);
    const count = (this.#perAddress.get(counted) ?? 1) - 1;
    if (count === 0) this.#perAddress.delete(counted);
    else this.#perAddress.set(counted, count);
    if (this.#open.size === 0) { for (const done of this.#whenEmpty.splice(0)) done(); }
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of [...this.#open.keys()]) connection.sweep(now);
  }
}

/** An IPv4 address seen through a dual-stack socket (`::ffff:10.0.0.1`) in its own form. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
}

/** The unit connections are counted by: one IPv4 address, or one IPv6 /64 (one site, usually). */
export function countedAddress(address: string): string {
  if (!address.includes(":")) return address;
  const [front = "", back] = address.replace(/%.*$/, "").split("::");
  const groups = front === "" ? [] : front.split(":");
  const tail = back === undefined || back === "" ? [] : back.split(":");
  const zeros = back === undefined ? 0 : Math.max(0, 8 - groups.length - tail.length);
  const all = [...groups, ...new Array<string>(zeros).fill("0"), ...tail];
  return all.slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, "")).join(":");
}
