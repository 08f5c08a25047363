/** Fetches the armory from the bridge, each answer bounded in bytes and time. */
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { fail, type Failure, messageOf } from "../../shared/errors.ts";
import { CallError, Client } from "../../shared/http/client.ts";
import { limits } from "../../shared/limits.ts";
import type { ArmoryEntry, ArmoryManifest } from "../../shared/schema/armory.ts";
import { assertManifest, verifiedBytes } from "./verify.ts";

export interface PullOptions {
  readonly bridgeUrl: string;
  /** GRID_SHIP_TOKEN; null: the ship presents nothing. */
  readonly shipToken: string | null;
  /** How long the bridge may take for one answer. */
  readonly answerMs: number;
  /** Ends the pull. */
  readonly signal: AbortSignal;
}

/** 10,000 entries with paths of a common length fit several times over. */
const manifestBytesMax = 16 * 1024 * 1024;
/** JSON may write each byte of a text with six. */
const escapedBytes = 6;
/** The rest of an ArmoryFile: its path (escaped), hash and field names. */
const aroundBytes = 16 * 1024;

/** The manifest, verified. Throws `armoryPullFailed`. */
export async function pullManifest(options: PullOptions): Promise<ArmoryManifest> {
  try {
    const client = clientOf(options, manifestBytesMax);
    const manifest = await client.call("armoryManifest", {}, { signal: options.signal });
    assertManifest(manifest);
    return manifest;
  } catch (thrown) {
    throw meaningOf(thrown, "the armory manifest", options.signal);
  }
}

/** The bytes of one file, verified. Throws `armoryPullFailed`. */
export async function pullFile(
  options: PullOptions,
  entry: ArmoryEntry,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const bytesMax = Math.min(entry.size, limits.armoryFileBytesMax) * escapedBytes + aroundBytes;
    const client = clientOf(options, bytesMax);
    const query = { path: entry.path };
    const file = await client.call("armoryFile", { query }, { signal: options.signal });
    return await verifiedBytes(entry, file);
  } catch (thrown) {
    throw meaningOf(thrown, `the armory file ${entry.path}`, options.signal);
  }
}

function clientOf({ bridgeUrl, shipToken, answerMs }: PullOptions, replyBytesMax: number) {
  return new Client({
    table: bridgeApi,
    baseUrl: bridgeUrl,
    headers: (): Record<string, string> =>
      shipToken === null ? {} : { authorization: `Bearer ${shipToken}` },
    timeoutMs: answerMs,
    replyBytesMax,
  });
}

/** What the bridge's body said is never repeated: it may be anybody's. */
function meaningOf(thrown: unknown, what: string, signal: AbortSignal): unknown {
  const failed = (why: string): Failure => fail("armoryPullFailed", { why }, { cause: thrown });
  if (thrown instanceof CallError) {
    switch (thrown.kind) {
      case "status":
        return failed(`bridge answered ${thrown.status} for ${what}`);
      case "transport":
        return failed(`bridge did not answer for ${what}: ${thrown.message}`);
      case "invalid":
        return failed(`bridge answered with ${thrown.message} for ${what}`);
    }
  }
  if (signal.aborted) {
    return failed(`the pull was given up at ${what}: ${messageOf(signal.reason)}`);
  }
  return thrown;
}
