/** What a route knows of the connection that brought its request, and how it turns one into a socket. */
import { fail } from "../errors.ts";
import { rawTargetOf } from "./raw_target.ts";
import type { Socket } from "./socket.ts";

/** How a handler wants its WebSocket. */
export interface UpgradeOptions {
  /** Receives the open socket, at most once. Attach handlers in this call. */
  readonly onSocket: (socket: Socket) => void;
  /** Subprotocol to select, if the client offers it; otherwise none is selected. */
  readonly protocol?: string;
  /** Accept permessage-deflate (RFC 7692) if the client offers it. Default false. */
  readonly compress?: boolean;
  /** Largest message accepted; one byte more closes with 1009. Default 1,572,992. */
  readonly payloadBytesMax?: number;
  /** Time between pings; one unanswered ping terminates. Default 10 s. */
  readonly heartbeatMs?: number;
}

/** What a handler may know and do about the connection its request came on. */
export interface Connection {
  /** The client's own address; `X-Forwarded-For` and its kin are never looked at. */
  readonly remoteAddress: string;
  /** Path and query exactly as sent; `new URL(request.url)` has already rewritten them. */
  readonly rawTarget: string;
  /**
   * Accepts a WebSocket. Return the response as it is: the connection becomes a socket once the
   * handler has returned without throwing, and `onSocket` is then called, in which handlers should
   * be attached at once. It is never called when the client has gone by then. A request that is no
   * valid upgrade gets a 400, or 426 with the version spoken here.
   */
  upgrade(request: Request, options: UpgradeOptions): Response;
}

/** The connection of a request that came over none: routes are called in process with it. */
export function inProcessConnection(request: Request): Connection {
  return {
    remoteAddress: "in-process",
    rawTarget: rawTargetOf(request.url),
    upgrade() {
      throw fail("upgradeRequired");
    },
  };
}
