/** POST /workspaces: a name reserved across the fleet, then the ship's own create. */
import type { z } from "zod";
import { fail, Failure } from "../../shared/errors.ts";
import { CallError } from "../../shared/http/client.ts";
import { type Emit, isEventStream, readEvents } from "../../shared/http/event_stream.ts";
import { limits } from "../../shared/limits.ts";
import type { Repo } from "../../shared/schema/repo.ts";
import {
  type BridgeCreate,
  type BridgeWorkspaceSummary,
  cloneProgressSchema,
  type ShipCreate,
  type WorkspaceSummary,
  workspaceSummarySchema,
} from "../../shared/schema/workspace.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Reservation } from "../fleet/ownership.ts";
import type { Repos } from "../fleet/repos.ts";
import type { ShipLink } from "../fleet/ship_link.ts";
import { type CreatePlan, planCreate } from "./create_plan.ts";
import { bridgeSummary, type EphemeralRecords } from "./ephemeral_records.ts";
import { answered, meaningOf } from "./ship_call.ts";

/** A create whose name is reserved. `run` must be called, once. */
export interface PreparedCreate {
  /** Asks the ship, and tells of its progress when `emit` is given. Throws what `callShip` throws, `shipRemovedMeanwhile`. */
  run(emit?: Emit): Promise<BridgeWorkspaceSummary>;
}

type BranchPlan = Extract<CreatePlan, { from: "branch" }>;

export class Creator {
  constructor(
    private readonly fleet: Fleet,
    private readonly repos: Repos,
    private readonly ephemeral: EphemeralRecords,
  ) {}

  /**
   * Judges the request and reserves the name. Throws the 400s of `planCreate`, `unknownRepo`,
   * `unknownShip`, `providerUnsupported`, `shipOffline`, and the conflicts of `Ownership.reserve`.
   */
  prepare(body: BridgeCreate): PreparedCreate {
    const plan = planCreate(body);
    const repo = this.repos.find(plan.id.repoName);
    if (repo === null) throw fail("unknownRepo", { name: plan.id.repoName });
    const link = this.fleet.link(plan.ship);
    if (link === null) throw fail("unknownShip", { ship: plan.ship });
    if (plan.from === "issue") {
      throw fail("providerUnsupported", { provider: repo.provider, what: "issues" });
    }
    if (link.status !== "online") throw fail("shipOffline", { ship: plan.ship });
    const reservation = this.fleet.ownership.reserve(plan.ship, plan.id);
    return { run: (emit) => this.#run({ link, repo, plan, reservation }, emit) };
  }

  async #run(
    { link, repo, plan, reservation }: {
      readonly link: ShipLink;
      readonly repo: Repo;
      readonly plan: BranchPlan;
      readonly reservation: Reservation;
    },
    emit?: Emit,
  ): Promise<BridgeWorkspaceSummary> {
    const { generation } = link;
    const body = { url: repo.url, ...plan.id, branch: plan.branch };
    try {
      const summary = await askShip(link, body, emit);
      if (summary.repoName !== plan.id.repoName || summary.name !== plan.id.name) {
        throw new CallError("invalid", "a workspace that was not asked for", 201);
      }
      if (!reservation.live) throw fail("shipRemovedMeanwhile", { ship: link.name });
      reservation.confirm(summary);
      return bridgeSummary({ ...summary, ship: link.name }, this.ephemeral);
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
