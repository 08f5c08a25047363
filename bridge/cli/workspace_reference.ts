/** Which workspace is meant by `<repo>/<name>`, or by a name alone. */
import { type WorkspaceId, workspaceKey } from "../../shared/ids.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import type { BridgeWorkspaceSummary } from "../../shared/schema/workspace.ts";
import type { Context } from "./context.ts";
import { CliFailure, UsageFailure } from "./failure.ts";
import { nearest } from "./nearest.ts";

/** The parts of `<repo>/<name>`; `repo` is null for a name alone. No identifier holds a slash. */
export function splitReference(text: string): { repo: string | null; name: string } {
  const [first = "", second, ...more] = text.split("/");
  if (more.length > 0) {
    throw new UsageFailure(`${JSON.stringify(text)} is no workspace: write <repo>/<name>`);
  }
  return second === undefined ? { repo: null, name: first } : { repo: first, name: second };
}

/** Finds the workspace; a lone name is looked up at the bridge and must be unique there. */
export async function resolveWorkspace(context: Context, text: string): Promise<WorkspaceId> {
  const { repo, name } = splitReference(text);
  const workspace = parseIdentifier("workspace", name);
  if (repo !== null) return { repoName: parseIdentifier("repo", repo), name: workspace };
  const all = await context.client.call("listWorkspaces", {});
  return pickByName(all, name);
}

/** The only one of `all` called `name`. Throws with the choices, or the nearest name. */
export function pickByName(all: readonly BridgeWorkspaceSummary[], name: string): WorkspaceId {
  const matches = all.filter((one) => one.name === name);
  const [match, second] = matches;
  if (match !== undefined && second === undefined) return match;
  if (match !== undefined) {
    const keys = matches.map(workspaceKey).join(", ");
    throw new CliFailure(`${matches.length} workspaces are called ${name}: say which of ${keys}`);
  }
  const close = nearest(name, all.map((one) => one.name));
  const meant = all.find((one) => one.name === close);
  throw new CliFailure(
    `no workspace is called ${name}: ${
      meant === undefined ? "`grid ls` lists them" : `did you mean ${workspaceKey(meant)}?`
    }`,
  );
}
