/** The open WebSockets of each user, so that they end with what opened them. */
import type { Clock } from "../../shared/clock.ts";
import type { Socket } from "../../shared/http/socket.ts";
import type { Principal } from "./principals.ts";

/** How a socket ends when its user's credentials do; RFC 6455 section 7.4.1: policy violation. */
export const revokedClose = { code: 1008, reason: "credential revoked" } as const;
/** How a socket ends with its session's 30 days. */
export const expiredClose = { code: 1008, reason: "session expired" } as const;
/** A peer that does not answer the close is cut off: gone within the second that is promised. */
const politeMs = 500;

type Closing = typeof revokedClose | typeof expiredClose;
type Closable = Pick<Socket, "closed" | "close" | "terminate" | "onClose">;

interface Live {
  readonly socket: Closable;
  readonly sessionExpiresAtMs: number;
}

export class LiveSockets implements Disposable {
  readonly #ofUser = new Map<string, Set<Live>>();
  /** Revocations of each user since the start: one number for each user who ever had one. */
  readonly #revocations = new Map<string, number>();
  readonly #terminations = new Set<Disposable>();

  constructor(private readonly clock: Clock) {}

  /**
   * To be taken before a user's ticket is checked. Between that and the socket's opening lie turns of the
   * event loop in which the user may be revoked; `register` compares.
   */
  mark(userId: string): number {
    return this.#revocations.get(userId) ?? 0;
  }

  /** Watches a socket until it closes. One whose user was revoked since the check is closed at once. */
  register(principal: Principal, socket: Closable): void {
    // In insecure mode nobody can be revoked, and nobody else gets to a socket.
    if (principal.kind !== "ticket") return;
    const { userId, sessionExpiresAtMs } = principal;
    if (this.mark(userId) !== principal.revocationMark) return this.#end(socket, revokedClose);
    const live: Live = { socket, sessionExpiresAtMs };
    const own = this.#ofUser.get(userId) ?? new Set();
    this.#ofUser.set(userId, own.add(live));
    socket.onClose(() => {
      own.delete(live);
      if (own.size === 0 && this.#ofUser.get(userId) === own) this.#ofUser.delete(userId);
    });
  }

  /** Closes every socket of the user, and those on their way to opening. */
  revokeUser(userId: string): void {
    this.#revocations.set(userId, this.mark(userId) + 1);
    for (const { socket } of [...this.#ofUser.get(userId) ?? []]) this.#end(socket, revokedClose);
  }

  /** Closes the sockets whose session has run out at `nowMs` (of `AuthTime`). */
  closeExpired(nowMs: number): void {
    for (const live of [...this.#ofUser.values()].flatMap((own) => [...own])) {
      if (live.sessionExpiresAtMs <= nowMs) this.#end(live.socket, expiredClose);
    }
  }

  get size(): number {
    return [...this.#ofUser.values()].reduce((sum, own) => sum + own.size, 0);
  }

  /** Forgets pending terminations; whoever shuts down closes the sockets. */
  [Symbol.dispose](): void {
    for (const termination of this.#terminations) termination[Symbol.dispose]();
    this.#terminations.clear();
  }

  #end(socket: Closable, { code, reason }: Closing): void {
    if (socket.closed) return;
    const termination = this.clock.after(politeMs, () => {
      this.#terminations.delete(termination);
      if (!socket.closed) socket.terminate();
    });
    this.#terminations.add(termination);
    socket.onClose(() => {
      termination[Symbol.dispose]();
      this.#terminations.delete(termination);
    });
    socket.close(code, reason);
  }
}
