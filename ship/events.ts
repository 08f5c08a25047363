/** The ship's `/events` socket: one `sync`, then every change (interface, "Ship events"). */
import type { Clock } from "../shared/clock.ts";
import { messageOf } from "../shared/errors.ts";
import type { EventHub } from "../shared/event_hub.ts";
import type { Socket } from "../shared/http/socket.ts";
import { type ShipName, type WorkspaceKey, workspaceKey } from "../shared/ids.ts";
import { limits } from "../shared/limits.ts";
import type { Log } from "../shared/log.ts";
import type { FleetEvent, WorkspaceEventType } from "../shared/schema/event.ts";
import type { WorkspaceSummary } from "../shared/schema/workspace.ts";

/** A change of one workspace, with its summary after the change: every `FleetEvent` but `sync`. */
export type WorkspaceChange = Extract<FleetEvent, { type: WorkspaceEventType }>;

export interface EventsOptions {
  /** The workspaces as they are now. */
  readonly snapshot: () => Promise<WorkspaceSummary[]>;
  readonly hub: Pick<EventHub<WorkspaceChange>, "subscribe">;
  readonly ship: ShipName;
  readonly clock: Clock;
  readonly log: Log;
}

/** From this much unsent on, status events wait and only the latest per workspace is kept. */
const backedUpBytesMin = 16 * 1024;
/** How often a socket that was backed up is looked at again: sockets do not say when they drain. */
const drainPollMs = 50;

/** Serves one subscriber until its socket closes. Whatever it sends is ignored. */
export function serveEvents(socket: Socket, options: EventsOptions): void {
  new Subscriber(socket, options).begin();
}

type Phase =
  | { readonly kind: "building"; readonly frames: string[]; bytes: number }
  | { readonly kind: "live" };

class Subscriber {
  #phase: Phase = { kind: "building", frames: [], bytes: 0 };
  /** Status frames that wait, the latest of each workspace, oldest workspace first. */
  readonly #held = new Map<WorkspaceKey, string>();
  #poll: Disposable | null = null;
  #subscription: Disposable | null = null;
  /** A large sync may be unsent for a while without its reader being slow. */
  #allowanceBytes = 0;

  constructor(private readonly socket: Socket, private readonly options: EventsOptions) {}

  begin(): void {
    const { socket, options } = this;
    socket.onText(() => {});
    socket.onBinary(() => {});
    socket.onClose(() => this.#end());
    // First listen, then look: a change in between is in the snapshot or in the buffer, or in both.
    this.#subscription = options.hub.subscribe((change) => this.#hear(change));
    options.snapshot().then(
      (workspaces) => this.#goLive(workspaces),
      (thrown) => {
        if (this.#subscription === null) return;
        options.log.error("could not build the workspace snapshot", { reason: messageOf(thrown) });
        this.#close(1011, "Failed to build workspace snapshot");
      },
    );
  }

  #hear(change: WorkspaceChange): void {
    const frame = JSON.stringify(change);
    const phase = this.#phase;
    switch (phase.kind) {
      case "building":
        phase.frames.push(frame);
        phase.bytes += byteLength(frame);
        if (phase.bytes > limits.socketPendingBytesMax) {
          this.#close(1009, "Terminal buffer limit exceeded");
        }
        return;
      case "live":
        return this.#pass(change, frame);
    }
  }

  #goLive(workspaces: WorkspaceSummary[]): void {
    const phase = this.#phase;
    if (this.#subscription === null || phase.kind !== "building") return;
    this.#phase = { kind: "live" };
    const { ship, clock } = this.options;
    const event: FleetEvent = { type: "sync", ship, at: clock.now().toISOString(), workspaces };
    const sync = JSON.stringify(event);
    this.#allowanceBytes = byteLength(sync);
    for (const frame of [sync, ...phase.frames]) this.#send(frame);
  }

  #pass(change: WorkspaceChange, frame: string): void {
    const key = workspaceKey(change.workspace);
    // Each event carries the whole summary: a later one makes a status that still waits pointless.
    this.#held.delete(key);
    if (change.type === "workspace.agent_status_changed" && this.#backedUp()) {
      this.#held.set(key, frame);
      this.#poll ??= this.options.clock.after(drainPollMs, () => this.#drain());
    } else this.#send(frame);
  }

  #drain(): void {
    this.#poll = null;
    for (const [key, frame] of this.#held) {
      if (this.#backedUp()) break;
      this.#held.delete(key);
      this.#send(frame);
    }
    if (this.#held.size > 0 && this.#subscription !== null) {
      this.#poll = this.options.clock.after(drainPollMs, () => this.#drain());
    }
  }

  #backedUp(): boolean {
    return this.socket.bufferedBytes >= backedUpBytesMin;
  }

  /** Sends, and gives up a subscriber that leaves too much unsent. */
  #send(frame: string): void {
    if (this.#subscription === null || this.socket.closed) return;
    this.socket.send(frame);
    const { bufferedBytes } = this.socket;
    if (bufferedBytes <= limits.socketPendingBytesMax) this.#allowanceBytes = 0;
    if (bufferedBytes > limits.socketPendingBytesMax + this.#allowanceBytes) {
      this.options.log.warn("gave up an events subscriber that does not keep up", {
        unsentBytes: bufferedBytes,
      });
      this.#end();
      this.socket.terminate();
    }
  }

  #close(code: number, reason: string): void {
    this.#end();
    this.socket.close(code, reason);
  }

  #end(): void {
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = null;
    this.#poll?.[Symbol.dispose]();
    this.#poll = null;
    this.#held.clear();
    this.#phase = { kind: "live" };
  }
}

const byteLength = (text: string) => new TextEncoder().encode(text).length;
