/** A branch for an issue: made and linked by the forge, or found where an earlier try left it. */
import { fail } from "../../shared/errors.ts";
import type { ForgeRepo } from "../provider/provider.ts";
import { issueBranchName } from "./slug.ts";

/**
 * The name of the branch to check out (interface, bridge behaviour 12). Asking again gives the same
 * branch. Throws `issueNotFound`, `providerTokenScope`, `issueBranchUnavailable`, and the failures of the
 * provider.
 */
export async function branchForIssue(forge: ForgeRepo, issueNumber: number): Promise<string> {
  const issue = await forge.issueForBranch(issueNumber);
  const branch = issueBranchName(issue.number, issue.title);
  const created = await issue.createBranch(branch);
  switch (created.kind) {
    case "created":
      return created.name;
    case "refused": {
      if (issue.linkedBranches.includes(branch)) return branch;
      if (await forge.hasBranch(branch)) return branch;
      const others = issue.linkedBranches.map((name) => `"${name}"`).join(", ");
      const why = others === ""
        ? created.why
        : `the issue is linked to ${others} instead; create from that branch by its name`;
      throw fail("issueBranchUnavailable", { issueNumber, branch, why });
    }
  }
}
