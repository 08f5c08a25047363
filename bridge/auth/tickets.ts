/** WebSocket tickets: 30 seconds, one use, in memory alone. */
import type { Clock } from "../../shared/clock.ts";
import { limits } from "../../shared/limits.ts";
import { newSecret } from "./secrets.ts";

/** Whom a ticket was given to. */
export interface TicketOwner {
  readonly userId: string;
  readonly sessionHash: string;
}

interface Held extends TicketOwner {
  readonly dueMs: number;
}

/** Unused tickets of one user; one more voids the oldest. */
export const ticketsPerUserMax = 256;

export class Tickets {
  /** In the order of issue, which is the order of expiry. */
  readonly #held = new Map<string, Held>();
  readonly #ofUser = new Map<string, Set<string>>();

  constructor(private readonly clock: Clock) {}

  issue(owner: TicketOwner): string {
    const nowMs = this.clock.monotonicMs();
    this.#dropExpired(nowMs);
    const own = this.#ofUser.get(owner.userId) ?? new Set();
    if (own.size >= ticketsPerUserMax) this.#drop(own.values().next().value ?? "");
    const ticket = newSecret();
    this.#held.set(ticket, { ...owner, dueMs: nowMs + limits.ticketLifeMs });
    this.#ofUser.set(owner.userId, own.add(ticket));
    return ticket;
  }

  /** Takes the ticket away and gives its owner, in one turn of the event loop: one caller gets it. */
  redeem(ticket: string): TicketOwner | null {
    const held = this.#held.get(ticket);
    this.#drop(ticket);
    if (held === undefined || this.clock.monotonicMs() >= held.dueMs) return null;
    return { userId: held.userId, sessionHash: held.sessionHash };
  }

  voidUser(userId: string): void {
    for (const ticket of [...this.#ofUser.get(userId) ?? []]) this.#drop(ticket);
  }

  get size(): number {
    return this.#held.size;
  }

  #dropExpired(nowMs: number): void {
    for (const [ticket, held] of this.#held) {
      if (held.dueMs > nowMs) return;
      this.#drop(ticket);
    }
  }

  #drop(ticket: string): void {
    const held = this.#held.get(ticket);
    if (held === undefined) return;
    this.#held.delete(ticket);
    const own = this.#ofUser.get(held.userId);
    own?.delete(ticket);
    if (own?.size === 0) this.#ofUser.delete(held.userId);
  }
}
