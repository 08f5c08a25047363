/** Identifiers for tests, through the real door. */
import type { WorkspaceId } from "../../shared/ids.ts";
import { parseIdentifier } from "../../shared/parse.ts";

export const workspaceId = (repo: string, name: string): WorkspaceId => ({
  repoName: parseIdentifier("repo", repo),
  name: parseIdentifier("workspace", name),
});
