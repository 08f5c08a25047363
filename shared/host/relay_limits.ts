/** Bounds of the public port. Times in milliseconds; tests pass smaller ones. */
import { limits } from "../limits.ts";
export interface RelayLimits {
  /** From the first byte of a request (or from accepting the connection) to the end of its head. */
  readonly headMs: number;
  /** Between two pieces of a request body while the handler is waiting for one. */
  readonly bodyIdleMs: number;
  /** Between the end of a response and the first byte of the next request. */
  readonly keepAliveIdleMs: number;
  /** Without one more byte taken by a client that has bytes waiting for it. */
  readonly stalledReaderMs: number;
  /** From the end of the last response to the client's own end of the connection. */
  readonly lingerMs: number;
  /** How often deadlines are looked at, thus how late a cut may come. */
  readonly sweepMs: number;
  /** Open connections of one address (one /64 for IPv6), upgraded ones included. */
  readonly connectionsPerAddressMax: number;
  /** Open connections of all addresses, upgraded ones included. */
  readonly connectionsMax: number;
  /** From `shutdown()` until everything still open is dropped. */
  readonly shutdownGraceMs: number;
  /** From `shutdown()` until it returns whatever happens. */
  readonly shutdownMs: number;
}

/** The bounds in service. */
export const relayLimits: RelayLimits = {
  headMs: 10_000,
  bodyIdleMs: 15_000,
  keepAliveIdleMs: 75_000,
  stalledReaderMs: 60_000,
  lingerMs: 2_000,
  sweepMs: 500,
  connectionsPerAddressMax: 256,
  connectionsMax: 1024,
  shutdownGraceMs: limits.shutdownPoliteMs,
  shutdownMs: 4_500,
};

/** Bytes the relay holds for the server before it stops reading from the client. */
export const relayQueueBytesMax = 64 * 1024;

/** Bytes read from the server at a time; each open connection holds one such buffer. */
export const relayReadBytes = 16 * 1024;

/** Latest bytes of a client that are remembered, to find the end of an upgrade request in. */
export const relayRecentBytesMax = 16 * 1024;
