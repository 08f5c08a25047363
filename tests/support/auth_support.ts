/** A bridge's authentication on a real KV file, behind the real router and, where asked, a listener. */
import { join } from "node:path";
import { Audit } from "../../bridge/auth/audit.ts";
import { Authentication } from "../../bridge/auth/authentication.ts";
import type { Argon2Cost } from "../../bridge/auth/phc.ts";
import type { Principal } from "../../bridge/auth/principals.ts";
import { AuthStore } from "../../bridge/auth/store.ts";
import { bridgeApi } from "../../shared/api/bridge_api.ts";
import { ManualClock } from "../../shared/clock.ts";
import { listen, type Listener } from "../../shared/host/listen.ts";
import { browserRules } from "../../shared/http/browser_guard.ts";
import { inProcessConnection } from "../../shared/http/connection.ts";
import { type Fetch, router } from "../../shared/http/router.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { silentLog } from "../../shared/log.ts";
import type { CreateUser } from "../../shared/schema/auth.ts";

/** Cheap on purpose: these tests ask who may do what, not what a password costs. */
export const cheapCost: Argon2Cost = { memoryKiB: 8, passes: 1, parallelism: 1 };
export const openKv = (path: string) => Deno.openKv(path);

export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- tests look into replies of every shape
  readonly body: any;
  readonly headers: Headers;
}

export interface Ask {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly address?: string;
}

const member: CreateUser = {
  username: "mia",
  email: "mia@grid.example",
  password: "member password",
  role: "member",
};
const admin: CreateUser = {
  username: "ada",
  email: "ada@grid.example",
  password: "admin password",
  role: "admin",
};
export const people = { member, admin };

export interface AuthBenchOptions {
  readonly insecure?: boolean;
  readonly cost?: Argon2Cost;
  readonly directory?: string;
  /** The wall clock at the start. */
  readonly at?: Date;
}

export class AuthBench implements AsyncDisposable {
  readonly serve: Fetch;
  readonly opened: Socket[] = [];
  #listener: Listener | null = null;

  private constructor(
    readonly directory: string,
    readonly clock: ManualClock,
    readonly store: AuthStore,
    readonly audit: Audit,
    readonly auth: Authentication,
  ) {
    const { authMode, login, logout, wsTicket, me, listUsers, createUser, deleteUser } = bridgeApi;
    const { setUserRole, setUserEmail, setUserPassword, events, listRepos } = bridgeApi;
    this.serve = router({
      table: {
        ...{ authMode, login, logout, wsTicket, me, listUsers, createUser, deleteUser },
        ...{ setUserRole, setUserEmail, setUserPassword, events, listRepos },
      },
      gate: auth.gate,
      log: silentLog,
      handlers: {
        ...auth.handlers,
        listRepos: () => [],
        events: ({ principal, connection, request }) =>
          connection.upgrade(request, { onSocket: (socket) => this.#onSocket(principal, socket) }),
      },
    });
  }

  static async open(options: AuthBenchOptions = {}): Promise<AuthBench> {
    const directory = options.directory ?? await Deno.makeTempDir({ prefix: "grid-auth-" });
    const clock = new ManualClock(options.at);
    const store = await AuthStore.open(join(directory, "auth.db"), openKv);
    const now = () => clock.now();
    const audit = new Audit({ path: join(directory, "audit.jsonl"), log: silentLog, now });
    await audit.start();
    const rules = browserRules({
      publicUrl: "http://localhost:4800",
      hostname: "127.0.0.1",
      port: 4800,
    });
    const auth = new Authentication({
      store,
      audit,
      clock,
      log: silentLog,
      insecure: options.insecure ?? false,
      // Sockets come in over a free port; what browsers may do has its own tests.
      browserRules: () => ({ ...rules, allowedHosts: null }),
      passwordCost: options.cost ?? cheapCost,
    });
    return new AuthBench(directory, clock, store, audit, auth);
  }

  /** A bridge with a member and an admin, both signed in. */
  static async withPeople(): Promise<{ bench: AuthBench; member: string; admin: string }> {
    const bench = await AuthBench.open();
    const tokens = [];
    for (const person of [member, admin]) {
      const user = await bench.auth.users.create(person);
      tokens.push((await bench.auth.sessions.issue(user)).token);
    }
    return { bench, member: tokens[0]!, admin: tokens[1]! };
  }

  async ask(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const headers = new Headers(ask.headers);
    if (ask.token !== undefined) headers.set("authorization", `Bearer ${ask.token}`);
    const body = ask.body === undefined ? null : JSON.stringify(ask.body);
    const request = new Request(`http://localhost:4800${path}`, { method, headers, body });
    const connection = {
      ...inProcessConnection(request),
      remoteAddress: ask.address ?? "192.0.2.1",
    };
    const response = await this.serve(request, connection);
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? null : JSON.parse(text),
      headers: response.headers,
    };
  }

  login(username: string, password: string, address?: string): Promise<Answer> {
    const body = { username, password };
    return this.ask("POST", "/auth/login", { body, ...address === undefined ? {} : { address } });
  }

  async ticket(token: string): Promise<string> {
    return (await this.ask("POST", "/auth/ws-ticket", { token })).body.ticket;
  }

  /** The bridge's WebSocket address; the first call starts to listen. */
  async socketUrl(query: string): Promise<string> {
    this.#listener ??= await listen({ hostname: "127.0.0.1", port: 0, fetch: this.serve });
    return `${this.#listener.url.replace("http", "ws")}/events${query}`;
  }

  /** Every byte of the database's files, as Latin-1. */
  async rawDatabase(): Promise<string> {
    let text = "";
    for await (const { name } of Deno.readDir(this.directory)) {
      if (!name.startsWith("auth.db")) continue;
      text += new TextDecoder("latin1").decode(await Deno.readFile(join(this.directory, name)));
    }
    return text;
  }

  async auditLines(): Promise<Record<string, string>[]> {
    await this.audit.flush();
    const text = await Deno.readTextFile(join(this.directory, "audit.jsonl"));
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await Deno.remove(this.directory, { recursive: true });
  }

  /** Ends everything and leaves the files. */
  async close(): Promise<void> {
    await this.#listener?.shutdown();
    await this.auth[Symbol.asyncDispose]();
    await this.audit[Symbol.asyncDispose]();
    this.store[Symbol.dispose]();
  }

  #onSocket(principal: Principal, socket: Socket): void {
    this.opened.push(socket);
    this.auth.liveSockets.register(principal, socket);
  }
}
