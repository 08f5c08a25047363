/**
 * The bridge's `/events`: an aggregate sync when a client connects, then every change. Syncs are debounced,
 * agent statuses coalesced to the latest of each workspace, and a client that does not read is dropped.
 */
import type { Clock } from "../shared/clock.ts";
import { workspaceKey } from "../shared/ids.ts";
import type { Socket } from "../shared/http/socket.ts";
import { limits } from "../shared/limits.ts";
import type { BridgeEvent } from "../shared/schema/event.ts";
import type { BridgeWorkspaceSummary } from "../shared/schema/workspace.ts";
import type { Fleet, FleetChange } from "./fleet/fleet.ts";
import { bridgeSummary, type EphemeralRecords } from "./routing/ephemeral_records.ts";
import type { Merged } from "./routing/merged.ts";

export interface BridgeEventsDeps {
  readonly fleet: Fleet;
  readonly merged: Merged;
  readonly ephemeral: EphemeralRecords;
  readonly clock: Clock;
}

type WorkspaceChange = Extract<FleetChange, { kind: "workspace" }>;

/** A workspace's agent status reaches clients at most this often. */
const statusCoalesceMs = 100;

interface Subscriber {
  readonly socket: Socket;
  /** Bytes of a sync still on their way: they are no sign of a client that does not read. */
  syncBytes: number;
}

export class BridgeEvents implements Disposable {
  readonly #subscribers = new Set<Subscriber>();
  #fromFleet: Disposable | null = null;
  #pendingSync: Disposable | null = null;
  /** Per workspace: the window after a status was sent, and the newest status that waits for its end. */
  readonly #statuses = new Map<
    string,
    { readonly timer: Disposable; latest: BridgeEvent | null }
  >();

  constructor(private readonly deps: BridgeEventsDeps) {}

  /** Begins to listen to the fleet. */
  start(): void {
    this.#fromFleet ??= this.deps.fleet.changes.subscribe((change) => this.#take(change));
  }

  /** Sends `socket` a sync, and every later event until it closes. What it sends is ignored. */
  attach(socket: Socket): void {
    const subscriber: Subscriber = { socket, syncBytes: 0 };
    socket.onText(() => {});
    socket.onBinary(() => {});
    socket.onClose(() => void this.#subscribers.delete(subscriber));
    this.#subscribers.add(subscriber);
    this.#send(subscriber, "sync", JSON.stringify(this.#sync()));
  }

  /** Sends everybody a sync soon; several asked for within the debounce are one. */
  syncSoon(): void {
    this.#pendingSync ??= this.deps.clock.after(limits.aggregateSyncDebounceMs, () => {
      this.#pendingSync = null;
      // What waits in a window is in the index, so in this sync, already.
      for (const window of this.#statuses.values()) window.latest = null;
      this.#broadcast(this.#sync());
    });
  }

  get subscriberCount(): number {
    return this.#subscribers.size;
  }

  /** Stops listening and closes every socket. */
  [Symbol.dispose](): void {
    this.#fromFleet?.[Symbol.dispose]();
    this.#fromFleet = null;
    this.#pendingSync?.[Symbol.dispose]();
    this.#pendingSync = null;
    for (const { timer } of this.#statuses.values()) timer[Symbol.dispose]();
    this.#statuses.clear();
    for (const { socket } of this.#subscribers) socket.close(1001, "bridge is shutting down");
    this.#subscribers.clear();
  }

  #take(change: FleetChange): void {
    switch (change.kind) {
      case "all":
        return this.syncSoon();
      case "workspace":
        return this.#takeWorkspace(change);
    }
  }

  #takeWorkspace({ type, workspace, at }: WorkspaceChange): void {
    const summary: BridgeWorkspaceSummary = bridgeSummary(workspace, this.deps.ephemeral);
    const event: BridgeEvent = { type, at, workspace: summary };
    const key = workspaceKey(workspace);
    const window = this.#statuses.get(key);
    if (type !== "workspace.agent_status_changed") {
      // It carries the whole summary, so a status that waits is out of date.
      if (window !== undefined) window.latest = null;
      this.#broadcast(event);
    } else if (window !== undefined) window.latest = event;
    else {
      this.#broadcast(event);
      this.#openWindow(key);
    }
  }

  #openWindow(key: string): void {
    const timer = this.deps.clock.after(statusCoalesceMs, () => {
      const latest = this.#statuses.get(key)?.latest ?? null;
      this.#statuses.delete(key);
      if (latest === null) return;
      this.#broadcast(latest);
      this.#openWindow(key);
    });
    this.#statuses.set(key, { timer, latest: null });
  }

  #sync(): BridgeEvent {
    return {
      type: "sync",
      at: this.deps.clock.now().toISOString(),
      workspaces: this.deps.merged.known(),
    };
  }

  #broadcast(event: BridgeEvent): void {
    if (this.#subscribers.size === 0) return;
    const text = JSON.stringify(event);
    for (const subscriber of [...this.#subscribers]) {
      this.#send(subscriber, event.type === "sync" ? "sync" : "event", text);
    }
  }

  #send(subscriber: Subscriber, kind: "sync" | "event", text: string): void {
    const { socket } = subscriber;
    const unsentBytes = socket.bufferedBytes;
    if (unsentBytes <= limits.socketPendingBytesMax) subscriber.syncBytes = 0;
    if (unsentBytes > subscriber.syncBytes + limits.socketPendingBytesMax) {
      this.#subscribers.delete(subscriber);
      socket.terminate();
      return;
    }
    // A second sync on top of one that is still under way gets no allowance of its own.
    if (kind === "sync" && subscriber.syncBytes === 0) {
      subscriber.syncBytes = new TextEncoder().encode(text).length;
    }
    socket.send(text);
  }
}
