/**
 * The interface's two status tables, row by row, and the failure code that raises each. A test that raises
 * a row has the code in square brackets in its name; the architecture check fails on a row without one, and
 * on a failure of `shared/errors.ts` that no row and no decision accounts for.
 */
import type { FailureCode } from "../shared/errors.ts";

export interface StatusRow {
  readonly server: "bridge" | "ship";
  readonly status: number;
  /** The row in the interface's words, shortened. */
  readonly row: string;
  /** The failure, or for what is no failure of the table a tag of its own. */
  readonly tag: FailureCode | "validation" | "relayed" | "passedThrough";
}

const ship = (status: number, tag: StatusRow["tag"], row: string): StatusRow => ({
  server: "ship",
  status,
  row,
  tag,
});
const bridge = (status: number, tag: StatusRow["tag"], row: string): StatusRow => ({
  server: "bridge",
  status,
  row,
  tag,
});

export const statusRows: readonly StatusRow[] = [
  ship(400, "invalidRepoIdentifier", "invalid repo identifier"),
  ship(400, "invalidWorkspaceIdentifier", "invalid workspace identifier"),
  ship(400, "escapesGridDirectory", "path escaping the grid directory"),
  ship(400, "invalidCreateRequest", "invalid workspace create request"),
  ship(400, "emptyBranch", "branch must not be empty"),
  ship(400, "branchNotCreated", 'could not create branch "<branch>": <reason>'),
  ship(400, "noRemoteHead", "remote has no usable HEAD to create the branch from"),
  ship(400, "workspaceNotActive", "workspace not active"),
  ship(400, "workspaceAlreadyActive", "workspace already active"),
  ship(400, "agentNotInitialized", "agent not initialized"),
  ship(400, "bridgeUrlNotHttp", "bridge url must be http(s): <url>"),
  ship(400, "bridgeUrlInvalid", "invalid bridge url: <url>"),
  ship(401, "unauthorized", "ship auth enabled and credential missing or invalid"),
  ship(403, "wrongCredential", "wrong credential for the route"),
  ship(403, "armoryPinned", "armory push naming a bridge other than the pinned one"),
  ship(404, "workspaceNotFound", "workspace not found"),
  ship(409, "workspaceExists", "clone destination already exists"),
  ship(409, "holdsWork", "force=false delete refused"),
  ship(422, "validation", "missing or mistyped body or query field"),
  ship(500, "cleanupFailed", "failed cleanup of a half-created destination names both"),
  ship(500, "armoryInstallFailed", "armory install failed"),
  ship(502, "armoryPullFailed", "armory pull failed"),

  bridge(400, "invalidRepoIdentifier", "invalid repo identifier"),
  bridge(400, "invalidWorkspaceIdentifier", "invalid workspace identifier"),
  bridge(400, "invalidShipIdentifier", "invalid ship identifier; DELETE /ships too"),
  bridge(400, "unknownShip", "unknown ship (create, per-ship resources)"),
  bridge(400, "unknownRepo", "unknown repo"),
  bridge(400, "invalidRepo", "invalid repo"),
  bridge(400, "branchAndIssue", "create with both branch and issueNumber"),
  bridge(400, "branchOrIssueMissing", "create with neither branch nor issueNumber"),
  bridge(400, "emptyBranch", "blank branch"),
  bridge(400, "issueNumberNotPositive", "issueNumber not a positive integer"),
  bridge(400, "ephemeralWithoutIssue", "ephemeral without issueNumber"),
  bridge(400, "oneTokenOnly", "ship registered with only one of its two tokens"),
  bridge(400, "unsafeArmoryPath", "unsafe armory path"),
  bridge(400, "invalidDotfileMap", "invalid dotfile map, one indented line per offending entry"),
  bridge(401, "unauthorized", "missing or unknown credential on a gated route"),
  bridge(401, "providerTokenMissing", "provider with no token (issue create)"),
  bridge(403, "providerTokenScope", "provider refusing a token without repo write scope"),
  bridge(403, "wrongCredential", "credential of the wrong kind"),
  bridge(403, "adminRequired", "member on an admin route"),
  bridge(404, "workspaceNotFound", "workspace not found: no ship in the index holds it"),
  bridge(404, "shipNotFound", "ship not found"),
  bridge(404, "repoNotFound", "repo not found"),
  bridge(404, "armoryFileNotFound", "armory file not found"),
  bridge(404, "issueNotFound", "unknown issue"),
  bridge(409, "issueBranchUnavailable", "issue branch neither created nor found under its name"),
  bridge(409, "shipAlreadyRegistered", "ship already registered"),
  bridge(409, "shipWorkspacesHostedElsewhere", "workspaces already hosted elsewhere"),
  bridge(409, "workspaceExists", "workspace already exists"),
  bridge(409, "createInProgress", "create in progress for that key"),
  bridge(409, "createIndeterminate", "create outcome indeterminate for that key"),
  bridge(409, "shipRemovedMeanwhile", "target ship removed mid-request"),
  bridge(409, "repoAlreadyRegistered", "repo already registered"),
  bridge(413, "armoryFileTooLarge", "armory file too large"),
  bridge(422, "validation", "body/query validation"),
  bridge(502, "shipDidNotRespond", "ship did not respond to the probe"),
  bridge(502, "shipAnswerInvalid", "ship returned no, invalid or unrequested data"),
  bridge(502, "branchListFailed", "could not list branches"),
  bridge(503, "hostOffline", "ship hosting the workspace is offline"),
  bridge(503, "shipOffline", "ship is offline"),
  bridge(503, "shipUnreachable", "ship unreachable"),
  bridge(0, "relayed", "any error resolving or linking an issue, with the provider's status"),
  bridge(0, "passedThrough", "any error of the owning ship, with its status and message"),
];

/** Rows without a test: `tests` are the names of all tests, each with the server that its file belongs to. */
export function untestedRows(
  tests: readonly { readonly server: "bridge" | "ship"; readonly name: string }[],
): string[] {
  return statusRows
    .filter(({ server, tag }) =>
      !tests.some((test) => test.server === server && test.name.includes(`[${tag}]`))
    )
    .map(({ server, status, row, tag }) =>
      `no test named [${tag}] raises ${server} ${status} "${row}"`
    );
}
