/** Why a workspace shows no screen: its terminal only says `exit` 1. */
import { CallError } from "../../../shared/http/client.ts";
import type { BridgeWorkspaceStatus } from "../../../shared/schema/workspace.ts";
import { CliFailure } from "../failure.ts";

/** `held`: somebody else has its terminal. `failure` says it to the user, and what to do next. */
export interface Absence {
  readonly kind: "unknown" | "inactive" | "offline" | "held";
  readonly failure: Error;
}

/**
 * So long after a lost connection the ship may still think that the old one is there, and a bridge that
 * has just started may not know the workspace yet.
 */
const passingMs = 60_000;

/** Whether an attachment that lost its connection so long ago should try again. */
export function mayPass({ kind }: Absence, lostForMs: number): boolean {
  switch (kind) {
    case "inactive":
      return false;
    case "offline":
      return true;
    case "unknown":
    case "held":
      return lostForMs < passingMs;
  }
}

/** The reason, from what the bridge says of the workspace `key`. Throws what is none. */
export async function absenceOf(
  key: string,
  asked: Promise<Pick<BridgeWorkspaceStatus, "state">>,
): Promise<Absence> {
  try {
    const { state } = await asked;
    return state === "inactive"
      ? {
        kind: "inactive",
        failure: new CliFailure(`${key} has no session: \`grid activate ${key}\` starts one`),
      }
      : {
        kind: "held",
        failure: new CliFailure(
          `somebody else is attached to ${key}, and a session shows on one terminal at a time: ` +
            "try again when they have left",
        ),
      };
  } catch (thrown) {
    if (!(thrown instanceof CallError)) throw thrown;
    if (thrown.status === 404) return { kind: "unknown", failure: thrown };
    if (thrown.kind === "transport" || thrown.status >= 500) {
      return { kind: "offline", failure: thrown };
    }
    throw thrown;
  }
}
