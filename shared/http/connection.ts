/** What a route knows of the connection that brought its request, and how it turns one into a socket. */
import type { Socket } from "./socket.ts";

export interface UpgradeOptions {
  /** Called once with the open socket, in the turn in which it opens. */
  readonly onSocket: (socket: Socket) => void;
  /** Negotiate permessage-deflate (RFC 7692) when the client offers it. */
  readonly compress?: boolean;
  /** A message longer than this closes the socket with 1009. */
  readonly payloadBytesMax?: number;
  /** Pings this often and terminates after one missed pong. */
  readonly heartbeatMs?: number;
}

export interface Connection {
  /** The client's address as the listener saw it; never taken from a header. */
  readonly remoteAddress: string;
  /** Turns a genuine WebSocket upgrade request into a socket; the returned response must be returned. */
  upgrade(request: Request, options: UpgradeOptions): Response;
}
