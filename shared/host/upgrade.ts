import type { IncomingMessage } from "node:http";
import { WebSocketServer } from "ws";
import type { UpgradeOptions } from "../http/connection.ts";
import type { Socket } from "../http/socket.ts";
import type { TakenConnection } from "./relayed_connection.ts";
import {
  socketCloseTimeoutMs,
  socketDeflateOptions,
  socketPayloadBytesMax,
  TellingWebSocket,
  WsSocket,
} from "./ws_socket.ts";

/** A checked upgrade request, waiting for its connection. */
export interface PreparedUpgrade {
  /** The request's `Sec-WebSocket-Key`. */
  readonly key: string;
  /** Answers 101 on the client's own socket; `onOpen` runs just before `onSocket`. */
  complete(taken: TakenConnection, onOpen: (socket: Socket) => void): void;
}

const keyPattern = /^[+/0-9A-Za-z]{22}==$/;

/** Checks an upgrade request (RFC 6455, 4.2.1); a response says what is wrong with it. */
export function prepareUpgrade(
  request: Request,
  options: UpgradeOptions,
): PreparedUpgrade | Response {
  const key = request.headers.get("sec-websocket-key") ?? "";
  const isUpgrade = request.method === "GET" && keyPattern.test(key) &&
    request.headers.get("upgrade")?.toLowerCase() === "websocket" &&
    /(?:^|[,\s])upgrade(?:$|[,\s])/i.test(request.headers.get("connection") ?? "");
  if (!isUpgrade) {
    return Response.json({ error: "not a valid WebSocket upgrade request" }, { status: 400 });
  }
  if (request.headers.get("sec-websocket-version") !== "13") {
    return Response.json({ error: "WebSocket version 13 is required" }, {
      status: 426,
      headers: { "sec-websocket-version": "13", "upgrade": "websocket", "connection": "upgrade" },
    });
  }
  // ws reads no more of a request than this.
  const message = { method: "GET", url: "/", headers: Object.fromEntries(request.headers) };
  return { key, complete: (taken, onOpen) => complete(message, options, { taken, onOpen }) };
}

function complete(
  message: object,
  options: UpgradeOptions,
  { taken, onOpen }: { taken: TakenConnection; onOpen: (socket: Socket) => void },
): void {
  const server = new WebSocketServer({
    noServer: true,
    WebSocket: TellingWebSocket,
    clientTracking: false,
    maxPayload: options.payloadBytesMax ?? socketPayloadBytesMax,
    perMessageDeflate: options.compress === true ? socketDeflateOptions : false,
    handleProtocols: (offered) =>
      options.protocol !== undefined && offered.has(options.protocol) ? options.protocol : false,
    // Newer than the types of ws: how long a peer has to answer a close frame.
    ...{ closeTimeout: socketCloseTimeoutMs },
  });
  server.handleUpgrade(message as IncomingMessage, taken.socket, taken.early, (ws) => {
    const socket = new WsSocket(ws, options.heartbeatMs);
    onOpen(socket);
    try {
      options.onSocket(socket);
    } catch (error) {
      socket.close(1011, "internal error");
      throw error;
    }
  });
  // The relay paused it, and ws expects a flowing socket.
  taken.socket.resume();
}
