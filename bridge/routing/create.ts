/** POST /workspaces: a name reserved across the fleet, then the ship's own create. */
import type { z } from "zod";
import { fail, Failure, messageOf } from "../../shared/errors.ts";
import { CallError } from "../../shared/http/client.ts";
import { type Emit, isEventStream, readEvents } from "../../shared/http/event_stream.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import type { Repo } from "../../shared/schema/repo.ts";
import {
  type BridgeCreate,
  type BridgeWorkspaceSummary,
  cloneProgressSchema,
  type ShipCreate,
  type WorkspaceSummary,
  workspaceSummarySchema,
} from "../../shared/schema/workspace.ts";
import { branchForIssue } from "../ephemeral/from_issue.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Reservation } from "../fleet/ownership.ts";
import type { Repos } from "../fleet/repos.ts";
import type { ShipLink } from "../fleet/ship_link.ts";
import type { ForgeRepo } from "../provider/provider.ts";
import type { Providers } from "../provider/providers.ts";
import { type CreatePlan, planCreate } from "./create_plan.ts";
import { bridgeSummary, type EphemeralWriter } from "./ephemeral_records.ts";
import { answered, meaningOf } from "./ship_call.ts";

/** A create whose name is reserved. `run` must be called, once. */
export interface PreparedCreate {
  /** Asks the ship, and tells of its progress when `emit` is given. Throws what `callShip` throws, `shipRemovedMeanwhile`. */
  run(emit?: Emit): Promise<BridgeWorkspaceSummary>;
}

export interface CreatorDeps {
  readonly fleet: Fleet;
  readonly repos: Repos;
  readonly providers: Providers;
  readonly ephemeral: EphemeralWriter;
  readonly log: Log;
}

/** A create that may run: its ship was online, its name is reserved. */
interface Admitted {
  readonly link: ShipLink;
  readonly repo: Repo;
  readonly plan: CreatePlan;
  /** Where the issue is; null for a plain branch. */
  readonly forge: ForgeRepo | null;
  readonly reservation: Reservation;
}

export class Creator {
  constructor(private readonly deps: CreatorDeps) {}

  /**
   * Judges the request and reserves the name. Throws the 400s of `planCreate`, `unknownRepo`,
   * `unknownShip`, `providerUnsupported`, `providerTokenMissing`, `shipOffline`, and the conflicts of
   * `Ownership.reserve`.
   */
  prepare(body: BridgeCreate): PreparedCreate {
    const { fleet, repos, providers } = this.deps;
    const plan = planCreate(body);
    const repo = repos.find(plan.id.repoName);
    if (repo === null) throw fail("unknownRepo", { name: plan.id.repoName });
    const link = fleet.link(plan.ship);
    if (link === null) throw fail("unknownShip", { ship: plan.ship });
    const forge = plan.from === "issue" ? providers.open(repo, "issues") : null;
    if (link.status !== "online") throw fail("shipOffline", { ship: plan.ship });
    const reservation = fleet.ownership.reserve(plan.ship, plan.id);
    return { run: (emit) => this.#run({ link, repo, plan, forge, reservation }, emit) };
  }

  async #run(admitted: Admitted, emit?: Emit): Promise<BridgeWorkspaceSummary> {
    const { link, plan } = admitted;
    const branch = await this.#branch(admitted);
    try {
      const summary = await this.#clone(admitted, branch, emit);
      await this.#record(plan, branch);
      return bridgeSummary({ ...summary, ship: link.name }, this.deps.ephemeral);
    } catch (thrown) {
      if (plan.from === "branch" || !(thrown instanceof Failure)) throw thrown;
      throw withReason(thrown, `branch "${branch}" was made for the issue and stays on the remote`);
    }
  }

  /** The branch to check out. Nothing is on the ship yet: a failure frees the name. */
  async #branch({ plan, forge, reservation }: Admitted): Promise<string> {
    if (plan.from === "branch") return plan.branch;
    if (forge === null) throw new Error("an issue without its forge");
    try {
      return await branchForIssue(forge, plan.issueNumber);
    } catch (thrown) {
      reservation.release();
      throw thrown;
    }
  }

  async #clone(
    { link, repo, plan, reservation }: Admitted,
    branch: string,
    emit: Emit | undefined,
  ): Promise<WorkspaceSummary> {
    if (!reservation.live) throw fail("shipRemovedMeanwhile", { ship: link.name });
    const { generation } = link;
    try {
      const summary = await askShip(link, { url: repo.url, ...plan.id, branch }, emit);
      if (summary.repoName !== plan.id.repoName || summary.name !== plan.id.name) {
        throw new CallError("invalid", "a workspace that was not asked for", 201);
      }
      if (!reservation.live) throw fail("shipRemovedMeanwhile", { ship: link.name });
      reservation.confirm(summary);
      return summary;
    } catch (thrown) {
      if (!reservation.live) throw fail("shipRemovedMeanwhile", { ship: link.name });
      if (!isOutcomeUnknown(thrown)) reservation.release();
      else {
        reservation.keep();
        // Only a sync settles it, and one that came while the create ran has said nothing of its end.
        link.drop(link.generation, "the outcome of a create is unknown");
      }
      throw thrown instanceof CallError ? meaningOf(link, generation, thrown) : thrown;
    }
  }

  /** The ship has confirmed the clone: a cleanup record begins, and an old one of that name ends. */
  async #record(plan: CreatePlan, branch: string): Promise<void> {
    const { ephemeral, fleet, log } = this.deps;
    const { ship, id } = plan;
    if (plan.from === "branch" || !plan.ephemeral) {
      await ephemeral.forget(id).catch((thrown: unknown) =>
        log.error("could not forget an old ephemeral record", { why: messageOf(thrown) })
      );
      return;
    }
    const { issueNumber } = plan;
    const untouched = { blockedReason: null, blockedAt: null, pullRequest: null };
    try {
      await ephemeral.add({ ...id, ship, issueNumber, branch, cleanup: "watching", ...untouched });
    } catch (thrown) {
      const reason = "the workspace was created, but will not be cleaned up by itself";
      throw thrown instanceof Failure ? withReason(thrown, reason) : thrown;
    }
    // Its event has gone out without the record.
    fleet.changes.publish({ kind: "all" });
  }
}

/** The failure as it is, with a further reason. */
function withReason(failure: Failure, reason: string): Failure {
  const { code, status, message, retryAfterSeconds, cause, body } = failure;
  const reasons = failure.reason === undefined ? reason : `${failure.reason}; ${reason}`;
  const rest = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new Failure(code, status, message, reasons, { cause, ...rest }, body);
}

/** False when the ship has answered, or was never reached. */
function isOutcomeUnknown(thrown: unknown): boolean {
  return thrown instanceof CallError && thrown.kind === "transport" &&
    !/^(connection refused|no route to host|dns error)$/.test(thrown.message);
}

async function askShip(
  link: ShipLink,
  body: ShipCreate,
  emit: Emit | undefined,
): Promise<WorkspaceSummary> {
  const bounds = { timeoutMs: limits.shipCreateMs };
  if (emit === undefined) return await link.client.call("createWorkspace", { body }, bounds);
  const headers = { accept: "text/event-stream, application/json" };
  const response = await link.client.open("createWorkspace", { body }, { ...bounds, headers });
  if (response.ok && isEventStream(response) && response.body !== null) {
    return await followStream(link, response.body, emit);
  }
  return summaryOf(parseJson(await link.client.read(response)));
}

/** Passes progress on until the result comes. */
async function followStream(
  link: ShipLink,
  body: ReadableStream<Uint8Array>,
  emit: Emit,
): Promise<WorkspaceSummary> {
  try {
    for await (const { event, data } of readEvents(body)) {
      const value = parseJson(data);
      if (event === "result") return resultOf(link, value);
      const progress = cloneProgressSchema.safeParse(value);
      if (event === "progress" && progress.success) emit("progress", progress.data);
    }
  } catch (thrown) {
    if (thrown instanceof CallError || thrown instanceof Failure) throw thrown;
    throw brokenOff();
  }
  throw brokenOff();
}

const brokenOff = () => new CallError("transport", "the ship's answer broke off", 0);

function resultOf(link: ShipLink, value: unknown): WorkspaceSummary {
  const { status, body } = (value ?? {}) as { status?: unknown; body?: unknown };
  if (status === 201) return summaryOf(body);
  throw answered(link, typeof status === "number" ? status : 0, body);
}

function summaryOf(value: unknown): z.output<typeof workspaceSummarySchema> {
  const parsed = workspaceSummarySchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CallError("invalid", "an answer that does not fit createWorkspace", 201);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
