/**
 * The closed table of failures: each row has a status and a message made from its details. Handlers
 * throw members of it with `fail`; `shared/http/router.ts` is the one place that turns them into
 * responses. Messages are the interface's, word for word; a row's key is what code and tests name it by.
 */

/** What a failure of one kind is made from. */
interface Row<Detail> {
  readonly status: number;
  readonly message: (detail: Detail) => string;
}

const row = <Detail = void>(status: number, message: (detail: Detail) => string): Row<Detail> => ({
  status,
  message,
});
const fixed = (status: number, message: string): Row<void> => ({ status, message: () => message });

interface Of {
  readonly repoName: string;
  readonly name: string;
}
const workspace = (of: Of) => `${of.repoName}/${of.name}`;

export const failures = {
  // identifiers and requests, on both daemons
  invalidRepoIdentifier: fixed(400, "invalid repo identifier"),
  invalidWorkspaceIdentifier: fixed(400, "invalid workspace identifier"),
  invalidShipIdentifier: fixed(400, "invalid ship identifier"),
  invalidPath: fixed(400, "invalid path encoding"),
  malformedJson: fixed(400, "malformed JSON body"),
  notFound: fixed(404, "not found"),
  methodNotAllowed: fixed(405, "method not allowed"),
  requestBodyTooLarge: fixed(413, "request body too large"),
  upgradeRequired: fixed(426, "this route is a WebSocket: send an upgrade request"),
  originRefused: row<{ origin: string }>(403, (d) => `origin not allowed: ${d.origin}`),
  crossSiteRefused: fixed(403, "cross-site requests are not allowed"),
  hostRefused: row<{ host: string }>(403, (d) => `host not allowed: ${d.host}`),
  unauthorized: fixed(401, "missing or invalid credential"),
  wrongCredential: fixed(403, "wrong credential for this route"),
  tooBusy: row<{ what: string }>(503, (d) => `too many ${d.what} at once: try again shortly`),
  internal: row<{ message: string }>(500, (d) => d.message),

  // bridge: authentication
  adminRequired: fixed(403, "this endpoint requires an admin"),
  invalidLogin: fixed(401, "invalid username or password"),
  tooManyFailedLogins: row<{ retryAfterSeconds: number }>(
    429,
    (d) => `too many failed logins: try again in ${d.retryAfterSeconds} s`,
  ),
  invalidUsername: fixed(400, "invalid username"),
  // Not a 401: clients throw their session away on those, and this one is good.
  wrongCurrentPassword: fixed(403, "current password is wrong"),
  userNotFound: row<{ username: string }>(404, (d) => `user not found: ${d.username}`),
  userExists: row<{ username: string }>(409, (d) => `user already exists: ${d.username}`),
  emailInUse: fixed(409, "email already in use"),
  lastAdmin: fixed(409, "the last admin cannot be removed"),
  userChangedMeanwhile: row<{ username: string }>(
    409,
    (d) => `user ${d.username} was changed by somebody else meanwhile: look again`,
  ),

  // ship
  escapesGridDirectory: row<Of>(400, (d) => `path escapes the grid directory: ${workspace(d)}`),
  invalidCreateRequest: row<{ why: string }>(400, () => "invalid workspace create request"),
  emptyBranch: fixed(400, "branch must not be empty"),
  branchNotCreated: row<{ branch: string; reason: string }>(
    400,
    (d) => `could not create branch "${d.branch}": ${d.reason}`,
  ),
  noRemoteHead: row<{ branch: string }>(
    400,
    (d) => `remote has no usable HEAD to create branch "${d.branch}" from`,
  ),
  badRange: row<{ reason: string }>(400, (d) => `could not diff: ${d.reason}`),
  workspaceNotActive: row<Of>(400, (d) => `workspace not active: ${workspace(d)}`),
  workspaceAlreadyActive: row<Of>(400, (d) => `workspace already active: ${workspace(d)}`),
  agentNotInitialized: row<Of>(400, (d) => `agent not initialized: ${workspace(d)}`),
  bridgeUrlNotHttp: row<{ url: string }>(400, (d) => `bridge url must be http(s): ${d.url}`),
  bridgeUrlInvalid: row<{ url: string }>(400, (d) => `invalid bridge url: ${d.url}`),
  workspaceNotFound: row<Of>(404, (d) => `workspace not found: ${workspace(d)}`),
  workspaceExists: row<Of>(409, (d) => `workspace already exists: ${workspace(d)}`),
  workspaceNameCollides: row<Of & { with: string }>(
    409,
    (d) => `workspace ${workspace(d)} differs from ${d.with} only in case or Unicode form`,
  ),
  workspaceBusy: row<Of & { doing: string }>(
    409,
    (d) => `workspace ${workspace(d)} is busy: ${d.doing} in progress`,
  ),
  holdsWork: row<Of & { found: string }>(
    409,
    (d) => `workspace ${workspace(d)} holds work that is not on a remote: ${d.found}`,
  ),
  cloneFailed: row<{ url: string; reason: string }>(
    500,
    (d) => `could not clone ${d.url}: ${d.reason}`,
  ),
  cleanupFailed: row<{ failure: string; cleanup: string }>(
    500,
    (d) => `${d.failure}; and cleaning up failed too: ${d.cleanup}`,
  ),
  bridgeAnswerInvalid: row<{ what: string }>(502, (d) => `the bridge answered with ${d.what}`),
  bridgeAccessMissing: fixed(
    503,
    "no bridge has given this ship a credential yet: repo tools work once a bridge has connected",
  ),
  bridgeUnreachable: row<{ message: string }>(
    503,
    (d) => `the bridge did not answer: ${d.message}`,
  ),
  commandFailed: row<{ what: string; reason: string }>(
    500,
    (d) => `${d.what} failed: ${d.reason}`,
  ),
  armoryPinned: row<{ expected: string; offered: string }>(
    403,
    (d) =>
      `armory push refused: this ship is pinned to bridge ${d.expected} ` +
      `but the push named ${d.offered}`,
  ),
  bridgeUrlRefused: row<{ why: string }>(403, (d) => `armory push refused: ${d.why}`),
  armoryPullFailed: row<{ why: string }>(502, (d) => d.why),
  armoryInstallFailed: row<{ why: string }>(500, (d) => `armory install failed: ${d.why}`),

  // bridge: armory
  unsafeArmoryPath: row<{ path: string }>(400, (d) => `unsafe armory path: ${d.path}`),
  invalidDotfileMap: row<{ file: string; faults: readonly string[] }>(
    400,
    (d) => [`invalid ${d.file}:`, ...d.faults.map((fault) => `  ${fault}`)].join("\n"),
  ),
  armoryFileNotFound: row<{ path: string }>(404, (d) => `armory file not found: ${d.path}`),
  armoryFileTooLarge: row<{ path: string; size: number; limit: number }>(
    413,
    (d) => `armory file too large (${d.size} bytes, limit ${d.limit}): ${d.path}`,
  ),
  armoryTooManyFiles: row<{ directory: string; limit: number }>(
    500,
    (d) => `${d.directory} holds more than ${d.limit} files: take some out of it`,
  ),

  // bridge: ships, repos, routing
  unknownShip: row<{ ship: string }>(400, (d) => `unknown ship: ${d.ship}`),
  unknownRepo: row<{ name: string }>(400, (d) => `unknown repo: ${d.name}`),
  invalidRepo: fixed(400, "invalid repo"),
  branchAndIssue: fixed(400, "give either branch or issueNumber, not both"),
  branchOrIssueMissing: fixed(400, "give a branch or an issueNumber"),
  issueNumberNotPositive: fixed(400, "issueNumber must be a positive integer"),
  ephemeralWithoutIssue: fixed(400, "ephemeral needs an issueNumber"),
  oneTokenOnly: fixed(400, "register both bridgeToken and shipToken, or neither"),
  shipUrlRefused: row<{ why: string }>(400, (d) => `ship url refused: ${d.why}`),
  providerUnsupported: row<{ provider: string; what: string }>(
    400,
    (d) => `provider "${d.provider}" does not support ${d.what}`,
  ),
  providerTokenMissing: row<{ provider: string; variable: string }>(
    401,
    (d) => `no token for provider "${d.provider}": set ${d.variable}`,
  ),
  providerTokenScope: row<{ provider: string; slug: string }>(
    403,
    (d) => `provider "${d.provider}" refuses the token: it needs write access to ${d.slug}`,
  ),
  issueNotFound: row<{ name: string; issueNumber: number }>(
    404,
    (d) => `issue not found: #${d.issueNumber} of ${d.name}`,
  ),
  issueBranchUnavailable: row<{ issueNumber: number; branch: string; why: string }>(
    409,
    (d) =>
      `branch "${d.branch}" for issue #${d.issueNumber} could be neither created nor found: ${d.why}`,
  ),
  providerRateLimited: row<{ provider: string; retryAfterSeconds: number }>(
    429,
    (d) => `provider "${d.provider}" limits requests: try again in ${d.retryAfterSeconds} s`,
  ),
  providerUnreachable: row<{ provider: string; message: string }>(
    502,
    (d) => `provider "${d.provider}" did not answer: ${d.message}`,
  ),
  providerAnswerInvalid: row<{ provider: string }>(
    502,
    (d) => `provider "${d.provider}" answered with something unexpected`,
  ),
  shipNotFound: row<{ name: string }>(404, (d) => `ship not found: ${d.name}`),
  repoNotFound: row<{ name: string }>(404, (d) => `repo not found: ${d.name}`),
  shipAlreadyRegistered: row<{ name: string }>(
    409,
    (d) => `ship already registered: ${d.name}`,
  ),
  shipWorkspacesHostedElsewhere: row<{ name: string; keys: readonly string[] }>(
    409,
    (d) => `ship "${d.name}" has workspaces already hosted elsewhere: ${d.keys.join(", ")}`,
  ),
  createInProgress: row<Of>(409, (d) => `create already in progress: ${workspace(d)}`),
  createIndeterminate: row<Of>(
    409,
    (d) =>
      `the outcome of an earlier create is not known yet: ${workspace(d)}; ` +
      `it settles when its ship is online again`,
  ),
  shipRemovedMeanwhile: row<{ ship: string }>(
    409,
    (d) => `ship "${d.ship}" was removed while the request ran`,
  ),
  repoAlreadyRegistered: row<{ name: string }>(
    409,
    (d) => `repo already registered: ${d.name}`,
  ),
  shipDidNotRespond: row<{ url: string; message: string }>(
    502,
    (d) => `ship at ${d.url} did not respond: ${d.message}`,
  ),
  shipAnswerInvalid: row<{ ship: string; what: string }>(
    502,
    (d) => `ship "${d.ship}" answered with ${d.what}`,
  ),
  branchListFailed: row<{ name: string; reason: string }>(
    502,
    (d) => `could not list branches for repo "${d.name}": ${d.reason}`,
  ),
  hostOffline: row<Of & { ship: string }>(
    503,
    (d) => `ship "${d.ship}" hosting ${workspace(d)} is offline`,
  ),
  shipOffline: row<{ ship: string }>(503, (d) => `ship "${d.ship}" is offline`),
  shipUnreachable: row<{ ship: string; message: string }>(
    503,
    (d) => `ship "${d.ship}" unreachable: ${d.message}`,
  ),
  storageFailed: row<{ file: string; reason: string }>(
    507,
    (d) => `could not write ${d.file}: ${d.reason}; nothing was changed`,
  ),
} as const satisfies Record<string, Row<never>>;

export type FailureCode = keyof typeof failures;
type DetailOf<Code extends FailureCode> = (typeof failures)[Code] extends Row<infer Detail> ? Detail
  : never;

/** One failure of the table, or one passed on from a ship. `reason` is an optional second field. */
export class Failure extends Error {
  override readonly name = "Failure";
  /** When the caller may come again (RFC 9110, `Retry-After`), whole seconds. */
  readonly retryAfterSeconds: number | undefined;
  constructor(
    readonly code: FailureCode | "relayed",
    readonly status: number,
    message: string,
    readonly reason?: string,
    options?: ErrorOptions & { readonly retryAfterSeconds?: number },
    /** The whole body to answer with instead of `{error, reason?}`: a ship's own 422. */
    readonly body?: unknown,
  ) {
    super(message, options);
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** Makes the failure `code` from its details, to be thrown. */
export function fail<Code extends FailureCode>(
  code: Code,
  ...detail: DetailOf<Code> extends void ? [detail?: undefined, extra?: FailureExtra]
    : [detail: DetailOf<Code>, extra?: FailureExtra]
): Failure {
  const { status, message } = failures[code] as Row<unknown>;
  return new Failure(code, status, message(detail[0]), detail[1]?.reason, {
    cause: detail[1]?.cause,
    retryAfterSeconds: detail[1]?.retryAfterSeconds,
  });
}

/**
 * What may accompany a failure: the rule broken (sent to the caller), when to come again (the
 * `Retry-After` header), and its cause (logged only).
 */
export interface FailureExtra {
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * A failure that another server raised, passed on with its status and message; with `body` when the
 * body has a form of its own (422).
 */
export function relayed(status: number, message: string, reason?: string, body?: unknown): Failure {
  return new Failure("relayed", status, message, reason, undefined, body);
}

/** The body that a failure is answered with. */
export function failureBody(failure: Failure): unknown {
  if (failure.body !== undefined) return failure.body;
  return failure.reason === undefined
    ? { error: failure.message }
    : { error: failure.message, reason: failure.reason };
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
