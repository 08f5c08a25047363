/**
 * Who hosts what: an index of the workspaces that every ship reports, the one ship that owns each, and the
 * creates under way. Values in, values out: it is told of events and knows no socket.
 */
import { fail } from "../../shared/errors.ts";
import {
  type ShipName,
  type WorkspaceId,
  type WorkspaceKey,
  workspaceKey,
} from "../../shared/ids.ts";
import type { WorkspaceSummary } from "../../shared/schema/workspace.ts";

/** A summary with the ship that owns the workspace. */
export interface OwnedWorkspace extends WorkspaceSummary {
  readonly ship: ShipName;
}

/** A workspace name kept free for a create. Each method is without effect once the ship was removed. */
export interface Reservation {
  /** False once the ship was removed. */
  readonly live: boolean;
  /** The ship created it: it is in the index unless events have told newer things meanwhile. */
  confirm(summary: WorkspaceSummary): void;
  /** The ship did not create it. */
  release(): void;
  /** Nobody knows: kept until the ship's next sync. */
  keep(): void;
}

/** A list asked of a ship: what events tell meanwhile is newer than the list. */
export interface Survey extends Disposable {
  /** Takes the list over, but for what events have touched; true when that changed anything. */
  apply(rows: readonly WorkspaceSummary[]): boolean;
}

interface Reserved {
  readonly key: WorkspaceKey;
  readonly ship: ShipName;
  readonly touched: Touched;
  state: "running" | "indeterminate";
}

/** What events have told of a ship since a moment: single workspaces, or everything. */
interface Touched {
  readonly ship: ShipName;
  readonly keys: Set<WorkspaceKey>;
  all: boolean;
}

export class Ownership {
  readonly #reports = new Map<ShipName, Map<WorkspaceKey, WorkspaceSummary>>();
  readonly #owners = new Map<WorkspaceKey, ShipName>();
  readonly #reserved = new Map<WorkspaceKey, Reserved>();
  readonly #watches = new Set<Touched>();

  constructor(private readonly isOnline: (ship: ShipName) => boolean) {}

  /** The ship that owns the workspace, or null. */
  ownerOf(id: WorkspaceId): ShipName | null {
    return this.#owners.get(workspaceKey(id)) ?? null;
  }

  /** Every workspace that has an owner, by repo and name. */
  list(): OwnedWorkspace[] {
    const rows: OwnedWorkspace[] = [];
    for (const [key, ship] of this.#owners) {
      const row = this.#reports.get(ship)?.get(key);
      if (row !== undefined) rows.push({ ...row, ship });
    }
    return rows.sort((a, b) => compare(a.repoName, b.repoName) || compare(a.name, b.name));
  }

  /** Which of `rows` another ship than `ship` owns or is creating, sorted. */
  heldElsewhere(ship: ShipName, rows: readonly WorkspaceSummary[]): WorkspaceKey[] {
    const held = rows.map(workspaceKey).filter((key) => {
      const holder = this.#owners.get(key) ?? this.#reserved.get(key)?.ship;
      return holder !== undefined && holder !== ship;
    });
    return [...new Set(held)].sort(compare);
  }

  /** All that `ship` has. Settles its creates of unknown outcome. */
  sync(ship: ShipName, rows: readonly WorkspaceSummary[]): void {
    for (const watch of this.#watches) if (watch.ship === ship) watch.all = true;
    for (const reserved of [...this.#reserved.values()]) {
      if (reserved.ship === ship && reserved.state === "indeterminate") this.#free(reserved);
    }
    this.#replace(ship, new Map(rows.map((row) => [workspaceKey(row), row])));
  }

  /** `ship` has the workspace as it is in `row`. True when `ship` owns it. */
  report(ship: ShipName, row: WorkspaceSummary): boolean {
    const key = workspaceKey(row);
    this.#touch(ship, key);
    this.#reportsOf(ship).set(key, row);
    this.#assign(key);
    return this.#owners.get(key) === ship;
  }

  /** `ship` no longer has the workspace. True when `ship` owned it. */
  forget(ship: ShipName, id: WorkspaceId): boolean {
    const key = workspaceKey(id);
    this.#touch(ship, key);
    const owned = this.#owners.get(key) === ship;
    this.#reports.get(ship)?.delete(key);
    this.#assign(key);
    return owned;
  }

  /** Releases all that `ship` owned, to other ships that report it too, and its creates. */
  removeShip(ship: ShipName): void {
    for (const watch of this.#watches) if (watch.ship === ship) watch.all = true;
    for (const reserved of [...this.#reserved.values()]) {
      if (reserved.ship === ship) this.#free(reserved);
    }
    this.#replace(ship, new Map());
    this.#reports.delete(ship);
  }

  /** Starts a survey of `ship`; dispose it when the list has been applied or will not come. */
  survey(ship: ShipName): Survey {
    const touched: Touched = { ship, keys: new Set(), all: false };
    this.#watches.add(touched);
    return {
      apply: (rows) => !touched.all && this.#merge(touched, rows),
      [Symbol.dispose]: () => void this.#watches.delete(touched),
    };
  }

  /** Keeps the name for a create on `ship`. Throws `workspaceExists`, `createInProgress`, `createIndeterminate`. */
  reserve(ship: ShipName, id: WorkspaceId): Reservation {
    const key = workspaceKey(id);
    const other = this.#reserved.get(key);
    if (other?.state === "running") throw fail("createInProgress", id);
    if (this.#owners.has(key)) throw fail("workspaceExists", id);
    if (other?.state === "indeterminate") throw fail("createIndeterminate", id);
    const touched: Touched = { ship, keys: new Set(), all: false };
    const reserved: Reserved = { key, ship, touched, state: "running" };
    this.#reserved.set(key, reserved);
    this.#watches.add(touched);
    const live = () => this.#reserved.get(key) === reserved;
    return {
      get live() {
        return live();
      },
      confirm: (summary) => {
        if (!live()) return;
        const known = touched.all || touched.keys.has(key);
        this.#free(reserved);
        if (!known) this.report(ship, summary);
      },
      release: () => {
        if (live()) this.#free(reserved);
      },
      keep: () => {
        reserved.state = "indeterminate";
        this.#watches.delete(touched);
      },
    };
  }

  #free(reserved: Reserved): void {
    this.#reserved.delete(reserved.key);
    this.#watches.delete(reserved.touched);
    this.#assign(reserved.key);
  }

  #merge(touched: Touched, rows: readonly WorkspaceSummary[]): boolean {
    const before = this.#reportsOf(touched.ship);
    const next = new Map(rows.map((row) => [workspaceKey(row), row]));
    for (const key of touched.keys) {
      const told = before.get(key);
      if (told === undefined) next.delete(key);
      else next.set(key, told);
    }
    const changed = !sameRows(before, next);
    if (changed) this.#replace(touched.ship, next);
    return changed;
  }

  #replace(ship: ShipName, next: Map<WorkspaceKey, WorkspaceSummary>): void {
    const before = this.#reports.get(ship) ?? new Map<WorkspaceKey, WorkspaceSummary>();
    this.#reports.set(ship, next);
    for (const key of new Set([...before.keys(), ...next.keys()])) this.#assign(key);
  }

  #reportsOf(ship: ShipName): Map<WorkspaceKey, WorkspaceSummary> {
    const known = this.#reports.get(ship);
    if (known !== undefined) return known;
    const fresh = new Map<WorkspaceKey, WorkspaceSummary>();
    this.#reports.set(ship, fresh);
    return fresh;
  }

  #touch(ship: ShipName, key: WorkspaceKey): void {
    for (const watch of this.#watches) if (watch.ship === ship) watch.keys.add(key);
  }

  /**
   * Gives `key` its owner: who has it keeps it while reporting it; else a ship that reports it, online ones
   * first, then by name. A reserved name goes to no ship but the one that creates it.
   */
  #assign(key: WorkspaceKey): void {
    const owner = this.#owners.get(key);
    if (owner !== undefined && this.#reports.get(owner)?.has(key)) return;
    const reserved = this.#reserved.get(key);
    const claimants = [...this.#reports]
      .filter(([ship, rows]) => rows.has(key) && (reserved === undefined || reserved.ship === ship))
      .map(([ship]) => ship)
      .sort((a, b) => Number(this.isOnline(b)) - Number(this.isOnline(a)) || compare(a, b));
    const [next] = claimants;
    if (next === undefined) this.#owners.delete(key);
    else this.#owners.set(key, next);
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function sameRows(
  a: ReadonlyMap<WorkspaceKey, WorkspaceSummary>,
  b: ReadonlyMap<WorkspaceKey, WorkspaceSummary>,
): boolean {
  if (a.size !== b.size) return false;
  for (const [key, row] of a) {
    const other = b.get(key);
    if (other === undefined || !sameRow(row, other)) return false;
  }
  return true;
}

function sameRow(a: WorkspaceSummary, b: WorkspaceSummary): boolean {
  return a.branch === b.branch && a.active === b.active &&
    JSON.stringify(a.agent) === JSON.stringify(b.agent);
}
