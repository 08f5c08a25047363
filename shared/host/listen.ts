/**
 * The one listener of both daemons. `Deno.serve` speaks HTTP on a private loopback port; a relay
 * (relay.ts) owns the public port, bounds its clients, and can hand a client's socket to npm `ws`.
 * Why it is built like this: docs/decisions/0002-one-listener.md.
 */
import { isValidHost, rawTargetOf } from "../http/raw_target.ts";
import type { Connection } from "../http/connection.ts";
import type { Socket } from "../http/socket.ts";
import { Relay, type RelayedClient } from "./relay.ts";
import type { Exchange } from "./relayed_connection.ts";
import { type RelayLimits, relayLimits } from "./relay_limits.ts";
import { type PreparedUpgrade, prepareUpgrade } from "./upgrade.ts";

/** Answers a request. What it throws becomes a 500, as a last resort. */
export type Fetch = (request: Request, connection: Connection) => Response | Promise<Response>;

/** How {@link listen} serves. */
export interface ListenOptions {
  /** Address to bind: IPv4, IPv6 or a name. */
  readonly hostname: string;
  /** Port to bind; 0 takes a free one. */
  readonly port: number;
  readonly fetch: Fetch;
  /** Bounds that differ from those in service; for tests. */
  readonly limits?: Partial<RelayLimits>;
  /** Told of each error thrown by `fetch`. By default nothing is logged. */
  readonly log?: (error: unknown) => void;
}

/** A running listener. */
export interface Listener {
  /** Base address, with the port really bound, e.g. `http://127.0.0.1:4700`. */
  readonly url: string;
  readonly port: number;
  /** Connections open now, upgraded ones included. */
  readonly connectionCount: number;
  /**
   * Stops accepting, closes sockets with 1001 and lets requests finish; drops what is left after
   * shutdownGraceMs and returns after shutdownMs whatever happens. Later calls wait for the first.
   */
  shutdown(): Promise<void>;
}

/** Opens the public port and serves it. Rejects with the system's error when it cannot be bound. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const service = new Service(options);
  await service.start(options.hostname, options.port);
  return service;
}

interface Admitted {
  readonly client: RelayedClient;
  readonly exchange: Exchange;
}

class Service implements Listener {
  readonly #fetch: Fetch;
  readonly #log: (error: unknown) => void;
  readonly #limits: RelayLimits;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #relay: Relay;
  readonly #sockets = new Set<Socket>();
  #closing: Promise<void> | undefined;
  url = "";
  port = 0;

  constructor(options: ListenOptions) {
    this.#fetch = options.fetch;
    this.#log = options.log ?? (() => {});
    this.#limits = { ...relayLimits, ...options.limits };
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
    }, (request, info) => this.#admit(request, info));
    this.#relay = new Relay(this.#server.addr.port, this.#limits);
  }

  get connectionCount(): number {
    return this.#relay.size;
  }

  async start(hostname: string, port: number): Promise<void> {
    try {
      this.port = await this.#relay.listen(hostname, port);
    } catch (error) {
      await this.#server.shutdown();
      throw error;
    }
    this.url = `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${this.port}`;
  }

  shutdown(): Promise<void> {
    this.#closing ??= this.#shutdown();
    return this.#closing;
  }

  async #shutdown(): Promise<void> {
    const { shutdownGraceMs, shutdownMs } = this.#limits;
    this.#relay.stopAccepting();
    for (const socket of this.#sockets) socket.close(1001, "shutting down");
    // Ends idle connections and each other one after its response; event streams it waits for.
    const served = this.#server.shutdown();
    const done = Promise.all([served, this.#relay.emptied()]);
    if (!await isSettledWithin(done, shutdownGraceMs)) {
      for (const socket of [...this.#sockets]) socket.terminate();
      this.#relay[Symbol.dispose]();
      await isSettledWithin(done, shutdownMs - shutdownGraceMs);
    }
    this.#relay[Symbol.dispose]();
  }

  #admit(
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Response | Promise<Response> {
    const { hostname, port } = info.remoteAddr;
    // 127.0.0.2 is loopback too, and could dial from a port the relay uses on 127.0.0.1.
    const client = hostname === "127.0.0.1" ? this.#relay.find(port) : undefined;
    if (client === undefined) return refuse(403, "this port is private");
    const exchange = client.connection.beginExchange(request.body !== null);
    const watched = watchBody(request, exchange);
    const end = () => {
      client.connection.endExchange(exchange);
      watched.release();
    };
    info.completed.then(end, end);
    return this.#answer(watched.request, { client, exchange });
  }

  async #answer(request: Request, { client, exchange }: Admitted): Promise<Response> {
    const response = isValidHost(request.headers.get("host")) && request.method !== "CONNECT"
      ? await this.#serve(request, client)
      : refuse(
        400,
        request.method === "CONNECT" ? "CONNECT is not supported" : "invalid Host header",
      );
    exchange.last = response.headers.get("connection")?.toLowerCase() === "close";
    return response;
  }

  async #serve(request: Request, client: RelayedClient): Promise<Response> {
    let prepared: PreparedUpgrade | undefined;
    const connection: Connection = {
      remoteAddress: client.remoteAddress,
      rawTarget: rawTargetOf(request.url),
      upgrade: (upgrading, options) => {
        const outcome = prepareUpgrade(upgrading, options);
        if (outcome instanceof Response) return outcome;
        if (client.connection.findEarlyBytes(outcome.key) === undefined) {
          return refuse(400, "a WebSocket upgrade must not follow another request unanswered");
        }
        prepared = outcome;
        // Never sent: the connection is the client's WebSocket before this could be written.
        return new Response(null);
      },
    };
    try {
      const response = await this.#fetch(request, connection);
      if (prepared !== undefined) this.#takeOver(client, prepared);
      return response;
    } catch (error) {
      this.#log(error);
      return refuse(500, error instanceof Error ? error.message : String(error));
    }
  }

  #takeOver(client: RelayedClient, prepared: PreparedUpgrade): void {
    if (this.#closing !== undefined) return client.connection.destroy();
    const taken = client.connection.takeOver(prepared.key);
    // The client has gone meanwhile, or nothing could be said to it that it would understand.
    if (taken === undefined) return client.connection.destroy();
    prepared.complete(taken, (socket) => {
      this.#sockets.add(socket);
      socket.onClose(() => this.#sockets.delete(socket));
    });
  }
}

interface WatchedRequest {
  readonly request: Request;
  /** Lets go of a body nobody read to its end; to be called when the exchange is over. */
  readonly release: () => void;
}

// Tells the relay when the handler waits for the body and when the body is over.
function watchBody(request: Request, exchange: Exchange): WatchedRequest {
  if (request.body === null) return { request, release: () => {} };
  const reader = request.body.getReader();
  let isReleased = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      exchange.bodyWaitSince = performance.now();
      try {
        const { done, value } = await reader.read();
        // Cancelling ends a pending read as if the body were whole; it must not look like that.
        if (isReleased) throw new Error("the request ended before its body was read");
        if (!done) return controller.enqueue(value);
        exchange.bodyOpen = false;
        controller.close();
      } finally {
        exchange.bodyWaitSince = undefined;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  const release = () => {
    if (!exchange.bodyOpen) return;
    isReleased = true;
    reader.cancel().catch(() => {});
  };
  return { request: new Request(request, { body }), release };
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status, headers: { connection: "close" } });
}

async function isSettledWithin(work: Promise<unknown>, waitMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  try {
    return await Promise.race([work.then(() => true, () => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
