/**
 * Every bound of the interface and of the decisions, in one place. A bound used by one file alone
 * stands beside its use; what two parts must agree on stands here, with the relations that must hold
 * between them checked when this file loads.
 */

const KiB = 1024;
const MiB = 1024 * KiB;
const secondMs = 1000;
const minuteMs = 60 * secondMs;

export const limits = {
  shipPort: 4700,
  bridgePort: 4800,
  requestBodyBytesMax: MiB,
  /** POST /ships: how long the bridge waits for the ship's first `sync`. */
  probeMs: 5 * secondMs,
  /** Bytes queued for one socket before it is given up. */
  socketPendingBytesMax: 256 * KiB,
  /** An events frame: a sync of many thousand workspaces must fit. */
  eventPayloadBytesMax: 64 * MiB,
  terminalPayloadBytesMax: 1_572_992,
  terminalInputBytesMax: 256 * KiB,
  /** Text that a session puts into the user's clipboard, as UTF-8; a larger one is not taken. */
  terminalClipboardBytesMax: 128 * KiB,
  terminalInitMs: 5 * secondMs,
  terminalColsMax: 1024,
  terminalRowsMax: 512,
  terminalUnackedFramesMax: 2,
  terminalStallMs: 5 * secondMs,
  heartbeatMs: 10 * secondMs,
  branchListTimeoutMs: 20 * secondMs,
  branchListStallMs: 15 * secondMs,
  /** Calls of the bridge to a ship. */
  shipCallMs: 30 * secondMs,
  shipListMs: 5 * secondMs,
  shipCreateMs: 15 * minuteMs,
  shipDeleteMs: 5 * minuteMs,
  shipArmorySyncMs: 2 * minuteMs,
  shipReplyBytesMax: 64 * MiB,
  reconnectMinMs: 500,
  reconnectMaxMs: 30 * secondMs,
  aggregateSyncDebounceMs: 100,
  gitConcurrencyMax: 8,
  gitQueueMax: 256,
  diffBytesMax: 32 * MiB,
  cpuSampleMs: 100,
  armoryFileBytesMax: 10 * MiB,
  armoryTotalBytesMax: 256 * MiB,
  armoryEntriesMax: 10_000,
  blockedReasonCharactersMax: 200,
  issueBranchCharactersMax: 60,
  sweepIntervalMs: 5 * minuteMs,
  /** Calls to a forge: one request, and one job's log. */
  forgeCallMs: 20 * secondMs,
  forgeListMax: 100,
  forgeListDefault: 30,
  forgeRefCharactersMax: 255,
  /** What GitHub takes for a comment. */
  forgeBodyCharactersMax: 65_536,
  forgeLogLinesMax: 5_000,
  forgeLogLinesDefault: 200,
  /** The end of a job's log that is kept, and how many jobs. */
  forgeLogBytesMax: MiB,
  forgeLogJobsMax: 20,
  sessionLifeMs: 30 * 24 * 60 * minuteMs,
  ticketLifeMs: 30 * secondMs,
  usernameBytesMax: 64,
  passwordBytesMin: 8,
  passwordBytesMax: 1024,
  emailBytesMax: 254,
  passwordConcurrencyMax: 2,
  passwordQueueMax: 32,
  loginFailuresPerUsernameMax: 10,
  loginFailuresPerAddressMax: 50,
  loginFailureWindowMs: 15 * minuteMs,
  auditBytesMax: 64 * MiB,
  shutdownPoliteMs: 2 * secondMs,
  shutdownMs: 5 * secondMs,
} as const;

function holds(relation: boolean, sentence: string): void {
  if (!relation) throw new Error(`limits.ts contradicts itself: ${sentence}`);
}

holds(
  limits.terminalPayloadBytesMax > 6 * limits.terminalInputBytesMax - 64,
  "an input of the largest size must fit a frame even when JSON escapes every byte to six",
);
holds(
  limits.terminalPayloadBytesMax > 6 * limits.terminalClipboardBytesMax + 4 * 128 * KiB,
  "a clipboard that JSON escapes to six bytes each must fit a frame beside a rich screen",
);
holds(limits.branchListStallMs < limits.branchListTimeoutMs, "a stall is found before the timeout");
holds(limits.shutdownPoliteMs < limits.shutdownMs, "politeness ends before shutdown does");
holds(limits.shipListMs <= limits.shipCallMs, "listing waits no longer than any other call");
holds(
  limits.forgeCallMs < limits.shipCallMs,
  "a ship's tool outwaits the forge that it asks through the bridge",
);
holds(limits.reconnectMinMs < limits.reconnectMaxMs, "backoff grows");
