/** Authentication put together: one object that the bridge's composition root builds and owns. */
import type { Clock } from "../../shared/clock.ts";
import { messageOf } from "../../shared/errors.ts";
import type { BrowserRules } from "../../shared/http/browser_guard.ts";
import type { Log } from "../../shared/log.ts";
import { AgentTokens } from "./agent_tokens.ts";
import type { Audit } from "./audit.ts";
import { AuthTime } from "./auth_time.ts";
import { BridgeGate } from "./gate.ts";
import { LiveSockets } from "./live_sockets.ts";
import { Login } from "./login.ts";
import { PasswordHasher } from "./password.ts";
import type { Argon2Cost } from "./phc.ts";
import { authHandlers } from "./routes.ts";
import { Sessions } from "./sessions.ts";
import { ShipCredentialStore } from "./ship_credentials.ts";
import type { AuthStore } from "./store.ts";
import { LoginThrottle } from "./throttle.ts";
import { Tickets } from "./tickets.ts";
import { UserRecords } from "./user_records.ts";
import { Users } from "./users.ts";

export interface AuthenticationOptions {
  readonly store: AuthStore;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  /** Everybody is an admin. */
  readonly insecure: boolean;
  readonly browserRules: () => BrowserRules;
  /** Default: the decided one. */
  readonly passwordCost?: Argon2Cost;
}

const socketCheckMs = 60_000;
const purgeMs = 60 * 60_000;

export class Authentication implements AsyncDisposable {
  readonly sessions: Sessions;
  readonly tickets: Tickets;
  readonly users: Users;
  readonly hasher: PasswordHasher;
  readonly shipCredentials: ShipCredentialStore;
  readonly agentTokens: AgentTokens;
  readonly liveSockets: LiveSockets;
  readonly gate: BridgeGate;
  readonly handlers: ReturnType<typeof authHandlers>;
  readonly #time: AuthTime;
  readonly #timers = new Set<Disposable>();
  #purging: Promise<void> | null = null;

  constructor(private readonly options: AuthenticationOptions) {
    const { store, audit, clock, insecure, browserRules } = options;
    const records = new UserRecords(store);
    const throttle = new LoginThrottle(clock);
    const onRevoked = (userId: string) => this.#revoked(userId);
    const time = this.#time = new AuthTime(clock);
    const hasher = this.hasher = new PasswordHasher(options.passwordCost);
    const sessions = this.sessions = new Sessions(store, records, time);
    const tickets = this.tickets = new Tickets(clock);
    const users = this.users = new Users({ records, hasher, throttle, clock, onRevoked });
    const shipCredentials = this.shipCredentials = new ShipCredentialStore(store);
    const agentTokens = this.agentTokens = new AgentTokens(store);
    const liveSockets = this.liveSockets = new LiveSockets(clock);
    const login = new Login({ records, users, hasher, throttle, sessions, audit });
    this.gate = new BridgeGate({
      insecure,
      browserRules,
      sessions,
      tickets,
      liveSockets,
      shipCredentials,
      agentTokens,
    });
    this.handlers = authHandlers({
      insecure,
      login,
      users,
      sessions,
      tickets,
      audit,
      time,
      onRevoked,
    });
  }

  /** Starts to close the sockets of expired sessions, every minute, and to delete these, every hour. */
  start(): void {
    this.#every(socketCheckMs, () => this.liveSockets.closeExpired(this.#time.nowMs()));
    this.#every(purgeMs, () => {
      this.#purging ??= this.#purge().finally(() => this.#purging = null);
    });
  }

  /** The store and the audit log are their owner's to close. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers.clear();
    await this.#purging;
    this.liveSockets[Symbol.dispose]();
  }

  #revoked(userId: string): void {
    this.tickets.voidUser(userId);
    this.liveSockets.revokeUser(userId);
  }

  async #purge(): Promise<void> {
    try {
      await this.sessions.purge();
    } catch (thrown) {
      this.options.log.error("could not delete expired sessions", { cause: messageOf(thrown) });
    }
  }

  #every(periodMs: number, action: () => void): void {
    const timer = this.options.clock.after(periodMs, () => {
      this.#timers.delete(timer);
      action();
      this.#every(periodMs, action);
    });
    this.#timers.add(timer);
  }
}
