/**
 * The ship's workspaces: what is listed, made, switched, started, stopped and taken away. Every change is
 * told on `events` once it is so. Reads never wait for a change; changes of one workspace wait for each
 * other.
 */
import type { CommandLane } from "../../shared/host/command.ts";
import type { Clock } from "../../shared/clock.ts";
import type { EventHub } from "../../shared/event_hub.ts";
import { fail, messageOf } from "../../shared/errors.ts";
import type { ShipName, WorkspaceId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { WorkspaceEventType } from "../../shared/schema/event.ts";
import type { DiffQuery } from "../../shared/schema/query.ts";
import type {
  CloneProgress,
  ShipCreate,
  WorkspaceStatus,
  WorkspaceSummary,
} from "../../shared/schema/workspace.ts";
import type { Git } from "../git/git.ts";
import { AnchoredMove } from "./anchored_move.ts";
import { Activity, type Look } from "./activity.ts";
import { Creation } from "./creation.ts";
import { WorkspaceLocks } from "./locks.ts";
import { type Place, Places } from "./places.ts";
import type { AgentMemory, AgentTokens, Sessions, WorkspaceEvent } from "./ports.ts";
import { Removal } from "./removal.ts";
import { requireTransition, type Trigger } from "./state.ts";
import { Trash } from "./trash.ts";
import { diffFigures, diffText } from "./workspace_diff.ts";

export interface WorkspacesOptions {
  /** Absolute and without links. */
  readonly gridDirectory: string;
  readonly shipName: ShipName;
  readonly git: Git;
  /** Runs `moverPrograms`. */
  readonly moveLane: CommandLane;
  readonly sessions: Sessions;
  readonly agents: AgentMemory;
  readonly tokens: AgentTokens;
  readonly events: EventHub<WorkspaceEvent>;
  /** Where the workspace's agent finds its MCP endpoint. */
  readonly mcpUrl: (id: WorkspaceId) => string;
  readonly clock: Clock;
  readonly log: Log;
  /** Default `<gridDirectory>/.grid-trash`; must be on the same file system. */
  readonly trashDirectory?: string;
}

const switchMs = 2 * 60_000;

export class Workspaces {
  readonly #places: Places;
  readonly #trash: Trash;
  readonly #creation: Creation;
  readonly #removal: Removal;
  readonly #locks = new WorkspaceLocks();
  readonly #activity: Activity;

  constructor(private readonly options: WorkspacesOptions) {
    const { gridDirectory, git, log, trashDirectory, sessions } = options;
    this.#places = new Places(gridDirectory, git);
    const move = new AnchoredMove(options.moveLane);
    this.#trash = new Trash({ gridDirectory, log, move, directory: trashDirectory });
    this.#creation = new Creation({ places: this.#places, git, trash: this.#trash });
    this.#removal = new Removal({ places: this.#places, git, trash: this.#trash, log });
    this.#activity = new Activity({
      sessions,
      locks: this.#locks,
      onVanished: (id) => this.#becameInactive(id),
    });
  }

  /** Clears away what an earlier run left behind. Once, before anything else. */
  async start(): Promise<void> {
    await this.#trash.sweep();
  }

  /** Every workspace, or the active (`true`) or inactive (`false`) ones. */
  async list(active: boolean | null = null): Promise<WorkspaceSummary[]> {
    const [places, look] = await Promise.all([this.#places.all(), this.#activity.look()]);
    const summaries = await Promise.all(places.map((place) => this.#summary(place, look)));
    return active === null ? summaries : summaries.filter((one) => one.active === active);
  }

  /** The workspace's summary. Throws `workspaceNotFound`. */
  async find(id: WorkspaceId): Promise<WorkspaceSummary> {
    const [place, look] = await Promise.all([this.#places.require(id), this.#activity.look()]);
    return await this.#summary(place, look);
  }

  /** Throws `workspaceNotFound`. */
  async assertExists(id: WorkspaceId): Promise<void> {
    await this.#places.require(id);
  }

  /** Throws `workspaceNotFound` or `workspaceNotActive`. */
  async requireActive(id: WorkspaceId): Promise<void> {
    if (!(await this.find(id)).active) throw fail("workspaceNotActive", id);
  }

  /** Tells listeners that the workspace's agent reported something. */
  async announceAgent(id: WorkspaceId): Promise<void> {
    this.#publish("workspace.agent_status_changed", await this.find(id));
  }

  /** The workspace's status; an active one's has its diff. Throws `workspaceNotFound`. */
  async get(id: WorkspaceId): Promise<WorkspaceStatus> {
    const [place, look] = await Promise.all([this.#places.require(id), this.#activity.look()]);
    const shown = { ...place.id, branch: place.branch };
    if (!await look.isActive(id)) return { state: "inactive", ...shown };
    return {
      state: "active",
      ...shown,
      diff: await diffFigures(this.options.git.in(place.directory)),
      agent: this.options.agents.get(id),
      issue: null,
      mergeRequest: null,
      ship: this.options.shipName,
    };
  }

  /** The diff as text. Throws `workspaceNotFound`, `badRange`; `signal` ends git. */
  async diff(
    id: WorkspaceId,
    query: DiffQuery,
    signal?: AbortSignal,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { directory } = await this.#places.require(id);
    const copy = this.options.git.in(directory);
    return await diffText({ copy, query, signal, indexFile: () => this.#trash.newPath() });
  }

  /** Clones a new workspace. It goes on when the caller leaves. */
  async create(
    body: ShipCreate,
    onProgress?: (progress: CloneProgress) => void,
  ): Promise<WorkspaceSummary> {
    const request = await this.#creation.parse(body);
    using _lock = await this.#locks.acquire(request.id, "create");
    const { id, branch } = await this.#creation.run(request, onProgress);
    const summary = { ...id, branch, active: false, agent: null };
    this.#publish("workspace.created", summary);
    return summary;
  }

  /** Switches to the branch: a local one, the remote's, or a new one. Throws `branchNotCreated`. */
  async switchBranch(id: WorkspaceId, text: string): Promise<void> {
    const branch = text.trim();
    if (branch === "") throw fail("emptyBranch");
    using _lock = await this.#locks.acquire(id, "branch switch");
    const place = await this.#places.require(id);
    if (!await this.options.git.isBranchName(branch)) {
      throw fail("branchNotCreated", { branch, reason: "it is not a valid branch name" });
    }
    await this.#switch(place, branch);
    const [after, look] = await Promise.all([this.#places.require(id), this.#activity.look()]);
    this.#publish("workspace.branch_changed", await this.#summary(after, look));
  }

  // The look before the lock tells of a session that had vanished before we began.

  /** Starts the session. Throws `workspaceAlreadyActive`. */
  async activate(id: WorkspaceId): Promise<void> {
    await this.#activity.look();
    using _lock = await this.#locks.acquire(id, "activate");
    const place = await this.#requireTransition(id, "activate");
    const token = this.options.tokens.mint(id);
    try {
      await this.options.sessions.start(id, place.directory, {
        GRID_REPO: id.repoName,
        GRID_WORKSPACE: id.name,
        GRID_SHIP: this.options.shipName,
        GRID_MCP_URL: this.options.mcpUrl(id),
        GRID_MCP_TOKEN: token,
      });
    } catch (thrown) {
      this.options.tokens.revoke(id);
      throw thrown;
    }
    this.#activity.set(id, true);
    this.#publish("workspace.activated", this.#shown(place, true));
  }

  /** Ends the session. Throws `workspaceNotActive`. */
  async deactivate(id: WorkspaceId): Promise<void> {
    await this.#activity.look();
    using _lock = await this.#locks.acquire(id, "deactivate");
    await this.#requireTransition(id, "deactivate");
    await this.options.sessions.stop(id);
    this.#activity.set(id, false);
    await this.#becameInactive(id);
  }

  /**
   * Takes the workspace away. `force === false` refuses with `holdsWork` when it holds work that no remote
   * has; anything else is unconditional.
   */
  async remove(id: WorkspaceId, force: boolean | undefined): Promise<void> {
    await this.#activity.look();
    using _lock = await this.#locks.acquire(id, "delete");
    const place = await this.#places.require(id);
    const identity = await this.#removal.identify(place);
    const checked = force === false;
    if (checked) await this.#removal.refuseHeldWork(place);
    const wasActive = await this.#isActive(id);
    let taken;
    try {
      if (wasActive) await this.options.sessions.stop(id);
      // The session may have worked on until it was gone.
      if (wasActive && checked) await this.#removal.refuseHeldWork(place);
      taken = await this.#removal.take(place, identity);
    } catch (thrown) {
      if (wasActive && !await this.#isActive(id)) {
        this.#activity.set(id, false);
        await this.#becameInactive(id);
      }
      throw thrown;
    }
    this.#activity.set(id, false);
    this.#forgetAgent(id);
    this.#publish("workspace.removed", { ...id, branch: taken.branch, active: false, agent: null });
    await taken.destroy();
  }

  async #switch({ directory }: Place, branch: string): Promise<void> {
    const copy = this.options.git.in(directory);
    const has = async (ref: string) =>
      (await copy.call(["show-ref", "--verify", "--quiet", ref], { timeoutMs: switchMs })).ok;
    const how = await has(`refs/heads/${branch}`)
      ? ["--no-guess", branch]
      : await has(`refs/remotes/origin/${branch}`)
      ? ["--create", branch, "--track", `refs/remotes/origin/${branch}`]
      : ["--no-track", "--create", branch];
    const switched = await copy.call(["switch", "--quiet", "--no-recurse-submodules", ...how], {
      timeoutMs: switchMs,
    });
    if (!switched.ok) throw fail("branchNotCreated", { branch, reason: switched.reason });
  }

  async #requireTransition(id: WorkspaceId, trigger: Trigger): Promise<Place> {
    const place = await this.#places.require(id);
    requireTransition(await this.#isActive(id) ? "active" : "inactive", trigger, id);
    return place;
  }

  async #isActive(id: WorkspaceId): Promise<boolean> {
    return await (await this.#activity.look()).isActive(id);
  }

  async #becameInactive(id: WorkspaceId): Promise<void> {
    this.#forgetAgent(id);
    const branch = await this.#places.branchOrEmpty(id);
    this.#publish("workspace.deactivated", { ...id, branch, active: false, agent: null });
  }

  #forgetAgent(id: WorkspaceId): void {
    this.options.agents.clear(id);
    this.options.tokens.revoke(id);
  }

  async #summary(place: Place, look: Look): Promise<WorkspaceSummary> {
    return this.#shown(place, await look.isActive(place.id));
  }

  #shown({ id, branch }: Place, active: boolean): WorkspaceSummary {
    return { ...id, branch, active, agent: active ? this.options.agents.get(id) : null };
  }

  #publish(type: WorkspaceEventType, workspace: WorkspaceSummary): void {
    const { events, shipName, clock, log } = this.options;
    try {
      events.publish({ type, ship: shipName, at: clock.now().toISOString(), workspace });
    } catch (thrown) {
      log.error("a listener of workspace events failed", { reason: messageOf(thrown) });
    }
  }
}
