/**
 * What the rest of the program knows about a WebSocket, whichever library carries it.
 *
 * Nothing here touches the machine, so the same interface describes a socket in a browser, one
 * the listener accepted and one the dialer opened.
 */
export interface Socket {
  /** Queues one text message. Does nothing once the socket is closing or closed. */
  send(text: string): void;
  /**
   * Starts the closing handshake. Reasons over 123 bytes are cut. Codes that may not stand in a
   * frame are translated: 1005 closes without a code, any other such code (1006, 1015) becomes
   * 1011. A peer that does not answer is terminated soon after.
   */
  close(code: number, reason?: string): void;
  /** Drops the connection at once, without a handshake; `onClose` then reports 1006. */
  terminate(): void;
  /**
   * Stops reading from the peer: what it sends waits on its side, its end is noticed late. Messages that
   * have been read already still come. Closing resumes.
   */
  pause(): void;
  /** Reads on; fine when not paused. */
  resume(): void;
  /** Sets the handler called each time the operating system has taken a message of `send`. */
  onSent(handler: () => void): void;
  /** Bytes accepted by `send` that the operating system has not taken yet. */
  readonly bufferedBytes: number;
  /** True from the moment the close has been reported, or `terminate` was called. */
  readonly closed: boolean;
  /**
   * Sets the handler of text messages, replacing an earlier one. Messages that came before any
   * handler was set are kept (within {@link socketEarlyMessagesMax}) and delivered first.
   */
  onText(handler: (text: string) => void): void;
  /** Sets the handler told of each binary message; their bytes are never delivered. */
  onBinary(handler: () => void): void;
  /**
   * Adds a handler called exactly once with the close code and reason (1005 when the peer named
   * none, 1006 when there was no handshake). A handler added after the close is still called.
   */
  onClose(handler: (code: number, reason: string) => void): void;
}

/** Messages kept for a socket nobody listens to yet; one more closes it with 1009. */
export const socketEarlyMessagesMax = 64;

/** Bytes of text kept for a socket nobody listens to yet, one whole message aside. */
export const socketEarlyTextMax = 256 * 1024;

/** Longest close reason in UTF-8 bytes (RFC 6455, 5.5: 125 bytes less the code). */
export const closeReasonBytesMax = 123;

/** True for the close codes an endpoint may put into a frame (RFC 6455, 7.4). */
export function isSendableCloseCode(code: number): boolean {
  if (!Number.isInteger(code)) return false;
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006;
}

/** Cuts a close reason to {@link closeReasonBytesMax} without splitting a character. */
export function cutCloseReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= closeReasonBytesMax) return reason;
  const kept = bytes.subarray(0, closeReasonBytesMax);
  // A character cut in half decodes to one replacement character at the very end.
  return new TextDecoder().decode(kept).replace(/\uFFFD+$/, "");
}
