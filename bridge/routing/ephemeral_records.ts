/** What routing asks about ephemeral workspaces; the records themselves are kept elsewhere. */
import type { WorkspaceId } from "../../shared/ids.ts";
import type { EphemeralWorkspace } from "../../shared/schema/ephemeral.ts";
import type { BridgeWorkspaceSummary } from "../../shared/schema/workspace.ts";
import type { OwnedWorkspace } from "../fleet/ownership.ts";

export interface EphemeralRecords {
  /** The record of a workspace, or null when it is an ordinary one. */
  of(workspace: WorkspaceId & { readonly ship: string }): EphemeralWorkspace | null;
}

/** What creating does to the records. Both throw `storageFailed`. */
export interface EphemeralWriter extends EphemeralRecords {
  add(record: EphemeralWorkspace): Promise<void>;
  /** A new workspace is not the one that a record of its name was about. */
  forget(id: WorkspaceId): Promise<void>;
}

/** A workspace as the bridge shows it. */
export function bridgeSummary(
  workspace: OwnedWorkspace,
  records: EphemeralRecords,
): BridgeWorkspaceSummary {
  return { ...workspace, ephemeral: records.of(workspace) };
}
