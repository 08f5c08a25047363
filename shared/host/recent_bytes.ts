import { Buffer } from "node:buffer";
import { relayRecentBytesMax } from "./relay_limits.ts";

/** Chunks kept apart before they are joined; a client may send one byte at a time. */
const chunksMax = 256;

/**
 * The latest bytes a client sent, about relayRecentBytesMax of them. Kept across requests, for
 * the bytes of the next one can come before the end of the last one is known.
 */
export class RecentBytes {
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  /** Adds bytes and forgets the oldest. */
  add(chunk: Buffer): void {
    // Copied, for a chunk of one byte would keep the whole buffer it was read into alive.
    const tail = chunk.subarray(Math.max(0, chunk.length - relayRecentBytesMax));
    this.#chunks.push(Uint8Array.prototype.slice.call(tail));
    this.#bytes += tail.length;
    while (this.#bytes > relayRecentBytesMax && this.#chunks.length > 1) {
      this.#bytes -= this.#chunks.shift()!.length;
    }
    if (this.#chunks.length > chunksMax) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  /** What follows the request head that holds `key`; undefined when that head is not here. */
  afterHeadWith(key: string): Buffer | undefined {
    const recent = Buffer.concat(this.#chunks);
    const at = recent.lastIndexOf(key);
    const end = at < 0 ? -1 : recent.indexOf("\r\n\r\n", at, "latin1");
    return end < 0 ? undefined : recent.subarray(end + 4);
  }

  /** Forgets everything. */
  clear(): void {
    this.#chunks = [];
    this.#bytes = 0;
  }
}
