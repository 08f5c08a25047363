/** POST /workspaces: its arguments, judged in the interface's order. Pure. */
import { fail } from "../../shared/errors.ts";
import type { ShipName, WorkspaceId } from "../../shared/ids.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import type { BridgeCreate } from "../../shared/schema/workspace.ts";

/** What is to be created, and from what. */
export type CreatePlan =
  & { readonly ship: ShipName; readonly id: WorkspaceId }
  & (
    | { readonly from: "branch"; readonly branch: string }
    | { readonly from: "issue"; readonly issueNumber: number; readonly ephemeral: boolean }
  );

/**
 * Throws the 400s: a name that is no identifier, `branchAndIssue`, `branchOrIssueMissing`, `emptyBranch`,
 * `issueNumberNotPositive`, `ephemeralWithoutIssue`.
 */
export function planCreate(body: BridgeCreate): CreatePlan {
  const ship = parseIdentifier("ship", body.ship);
  const repoName = parseIdentifier("repo", body.repoName);
  const name = parseIdentifier("workspace", body.name);
  const { branch, issueNumber, ephemeral = false } = body;
  if (branch !== undefined && issueNumber !== undefined) throw fail("branchAndIssue");
  if (issueNumber !== undefined) {
    if (!Number.isSafeInteger(issueNumber) || issueNumber < 1) throw fail("issueNumberNotPositive");
    return { ship, id: { repoName, name }, from: "issue", issueNumber, ephemeral };
  }
  if (ephemeral) throw fail("ephemeralWithoutIssue");
  if (branch === undefined) throw fail("branchOrIssueMissing");
  const trimmed = branch.trim();
  if (trimmed === "") throw fail("emptyBranch");
  return { ship, id: { repoName, name }, from: "branch", branch: trimmed };
}
