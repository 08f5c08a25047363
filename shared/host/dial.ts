import type { Socket } from "../http/socket.ts";
import {
  socketCloseTimeoutMs,
  socketDeflateOptions,
  socketPayloadBytesMax,
  TellingWebSocket,
  WsSocket,
} from "./ws_socket.ts";

/** How {@link dial} opens a socket. */
export interface DialOptions {
  /** The whole handshake, name lookup and connecting included, must be done in this time. */
  readonly openTimeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Largest message accepted; one byte more closes with 1009. Default 1,572,992. */
  readonly payloadBytesMax?: number;
  /** Offer permessage-deflate. Default false. */
  readonly compress?: boolean;
  /** Time between pings; one unanswered ping terminates. Default 10 s. */
  readonly heartbeatMs?: number;
  /** Gives up the attempt; an open socket no longer listens to it. */
  readonly signal?: AbortSignal;
}

/**
 * Why a socket could not be opened. The message names neither the URL nor a header, for both can
 * carry a ticket or a token.
 */
export class DialError extends Error {
  override readonly name = "DialError";
  /** HTTP status of the refusal, when the server answered at all. */
  readonly status: number | undefined;
  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/**
 * Opens a WebSocket with npm `ws`, which unlike Deno's own client notices a peer that stopped
 * answering. Never follows redirects (they would carry the headers elsewhere). Rejects with
 * {@link DialError}.
 */
export function dial(url: string, options: DialOptions): Promise<Socket> {
  const { signal, openTimeoutMs } = options;
  if (signal?.aborted) return Promise.reject(new DialError("WebSocket attempt was cancelled"));
  let ws: TellingWebSocket;
  try {
    ws = openWs(url, options);
  } catch {
    // The message of ws repeats the URL.
    return Promise.reject(new DialError("WebSocket address or header is not valid"));
  }
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const refuse = (message: string, status?: number) => {
      settle();
      reject(new DialError(message, status));
      ws.terminate();
    };
    const onAbort = () => refuse("WebSocket attempt was cancelled");
    const timer = setTimeout(
      () => refuse(`WebSocket did not open within ${openTimeoutMs} ms`),
      openTimeoutMs,
    );
    signal?.addEventListener("abort", onAbort);
    ws.on("error", (error) => refuse(`could not open WebSocket: ${shortReason(error)}`));
    ws.once("unexpected-response", (request, response) => {
      const status = response.statusCode ?? 0;
      refuse(`WebSocket refused with HTTP status ${status}`, status);
      response.destroy();
      request.destroy();
    });
    ws.once("open", () => {
      settle();
      ws.removeAllListeners("error");
      resolve(new WsSocket(ws, options.heartbeatMs));
    });
  });
}

function openWs(url: string, options: DialOptions): TellingWebSocket {
  return new TellingWebSocket(url, [], {
    headers: { ...options.headers },
    maxPayload: options.payloadBytesMax ?? socketPayloadBytesMax,
    perMessageDeflate: options.compress === true ? socketDeflateOptions : false,
    followRedirects: false,
    // Newer than the types of ws: how long a peer has to answer a close frame.
    ...{ closeTimeout: socketCloseTimeoutMs },
  });
}

// Error codes of the system (`ECONNREFUSED`) and of ws (`WS_ERR_…`) are short and say nothing secret.
function shortReason(error: Error & { code?: unknown }): string {
  return typeof error.code === "string" ? error.code : "handshake failed";
}
