/**
 * Who may reach which route of the bridge, written from the interface ("Bridge routes", "Bridge
 * principals") and the decisions, not from the code.
 */
export const principalKinds = [
  "none",
  "badToken",
  "member",
  "admin",
  "ship",
  "shipAgent",
  /** A WebSocket upgrade with a fresh ticket. */
  "ticket",
] as const;
export type PrincipalKind = (typeof principalKinds)[number];

/** `pass`: the route, or what answers for an unknown one (404, 405), is reached. */
export type Expected = "pass" | 401 | 403;

export interface PermissionRow {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  readonly path: string;
  /** Whether the bridge has this route; otherwise `pass` is a 404, or a 405 with `Allow`. */
  readonly served: boolean;
  readonly expected: Readonly<Record<PrincipalKind, Expected>>;
}

type Columns = readonly [
  none: Expected,
  badToken: Expected,
  member: Expected,
  admin: Expected,
  ship: Expected,
  shipAgent: Expected,
  ticket: Expected,
];
const open: Columns = ["pass", "pass", "pass", "pass", "pass", "pass", "pass"];
const user: Columns = [401, 401, "pass", "pass", 403, 403, 403];
const admin: Columns = [401, 401, 403, "pass", 403, 403, 403];
const armory: Columns = [401, 401, "pass", "pass", "pass", 403, 403];
const repos: Columns = [401, 401, "pass", "pass", 403, "pass", 403];
const socket: Columns = [401, 401, 403, 403, 403, 403, "pass"];
/** No such route: gated like any other, and only then 404 or 405. */
const unknown: Columns = [401, 401, "pass", "pass", 403, 403, "pass"];
/** The same below /repos, all of which an agent may reach with any method. */
const unknownRepos: Columns = [401, 401, "pass", "pass", 403, "pass", "pass"];

const row = (line: string, columns: Columns): PermissionRow => {
  const [method, path] = line.split(" ") as [PermissionRow["method"], string];
  const expected = Object.fromEntries(
    principalKinds.map((kind, index) => [kind, columns[index]]),
  ) as Record<PrincipalKind, Expected>;
  return { method, path, served: columns !== unknown && columns !== unknownRepos, expected };
};

/** In `/users/…` the member is `mia`, the admin `ada`. */
export const permissionTable: readonly PermissionRow[] = [
  row("GET /auth/mode", open),
  row("POST /auth/login", open),
  row("POST /auth/logout", open),
  row("POST /auth/ws-ticket", user),
  row("GET /auth/me", user),
  row("GET /users", admin),
  row("POST /users", admin),
  row("DELETE /users/mia", admin),
  row("DELETE /users/ada", admin),
  row("PUT /users/mia/role", admin),
  row("PUT /users/mia/email", user),
  row("PUT /users/MIA/email", user),
  row("PUT /users/mia/password", user),
  row("PUT /users/ada/email", admin),
  row("PUT /users/ada/password", admin),
  row("PUT /users/nobody/password", admin),
  row("GET /ships", user),
  row("POST /ships", admin),
  row("DELETE /ships/alpha", admin),
  row("GET /ships/alpha/system-resources", user),
  row("GET /system-resources", user),
  row("GET /repos", repos),
  row("POST /repos", repos),
  row("DELETE /repos/web", repos),
  row("GET /repos/web", repos),
  row("GET /repos/web/branches", repos),
  row("GET /repos/web/issues", repos),
  row("GET /repos/web/issues/1", repos),
  row("POST /repos/web/issues/1/comments", repos),
  row("GET /repos/web/pulls", repos),
  row("GET /repos/web/pulls/1", repos),
  row("POST /repos/web/pulls/1/comments", repos),
  row("POST /repos/web/pulls/1/reviews", repos),
  row("GET /repos/web/checks", repos),
  row("GET /repos/web/checks/logs", repos),
  row("GET /armory", armory),
  row("GET /armory/file", armory),
  row("GET /armory/ships", user),
  row("GET /workspaces", user),
  row("POST /workspaces", user),
  row("POST /workspaces/sweep", user),
  row("GET /workspaces/web/fix", user),
  row("DELETE /workspaces/web/fix", user),
  row("GET /workspaces/web/fix/diff", user),
  row("POST /workspaces/web/fix/branch", user),
  row("POST /workspaces/web/fix/activate", user),
  row("POST /workspaces/web/fix/deactivate", user),
  row("GET /workspaces/web/fix/terminal", socket),
  row("GET /events", socket),
  // Routes of ships, which the bridge does not serve, and what nobody serves.
  row("POST /workspaces/web/fix/mcp", unknown),
  row("POST /agent/credentials", unknown),
  row("POST /armory/sync", unknown),
  row("POST /armory", unknown),
  row("DELETE /armory/file", unknown),
  row("GET /nowhere", unknown),
  row("PATCH /ships", unknown),
  row("PUT /auth/login", unknown),
  row("GET /reposx", unknown),
  row("PATCH /repos", unknownRepos),
  row("PUT /repos/web", unknownRepos),
  row("GET /repos/web/nowhere/at/all", unknownRepos),
];
