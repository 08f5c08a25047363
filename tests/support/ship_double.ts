/**
 * A ship with scripted answers: the real listener, router and table, workspaces in memory. It stands behind
 * a gate through which every byte passes, so that it can go silent (as under SIGSTOP) or be cut off.
 */
import { type ShipApi, shipApi } from "../../shared/api/ship_api.ts";
import { fail } from "../../shared/errors.ts";
import { listen, type Listener } from "../../shared/host/listen.ts";
import { type Call, type Handlers, router } from "../../shared/http/router.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { type ShipName, workspaceKey } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import type { ArmorySyncState } from "../../shared/schema/armory.ts";
import type { AgentCredentials } from "../../shared/schema/agent.ts";
import { ok } from "../../shared/schema/common.ts";
import type { WorkspaceEventType } from "../../shared/schema/event.ts";
import type { SystemResources } from "../../shared/schema/ship.ts";
import type { WorkspaceSummary } from "../../shared/schema/workspace.ts";

export const figures: SystemResources = {
  uptimeSeconds: 5,
  os: {
    type: "Linux",
    platform: "linux",
    release: "6",
    version: "v",
    arch: "x64",
    machine: "x86_64",
    hostname: "host",
  },
  cpu: { model: "m", cores: 2, usage: 0.5, loadAverage: [0, 0, 0] },
  memory: { total: 4, free: 1, used: 3, usage: 0.75 },
};

export function row(key: string, given: Partial<WorkspaceSummary> = {}): WorkspaceSummary {
  const [repo = "", name = ""] = key.split("/");
  return {
    repoName: parseIdentifier("repo", repo),
    name: parseIdentifier("workspace", name),
    branch: "main",
    active: false,
    agent: null,
    ...given,
  };
}

/** Replaces the answer to a route while it is set. */
export type Script = {
  -readonly [Name in keyof ShipApi]?: (
    call: Call<ShipApi[Name], null>,
  ) => Promise<Response> | Response;
};

export interface Asked {
  readonly method: string;
  readonly target: string;
  readonly authorization: string | null;
  readonly accept: string | null;
}

export class ShipDouble implements AsyncDisposable {
  readonly workspaces = new Map<string, WorkspaceSummary>();
  readonly script: Script = {};
  readonly asked: Asked[] = [];
  /** What bridges have pushed, in order. */
  readonly agentCredentials: AgentCredentials[] = [];
  readonly sockets = new Set<Socket>();
  /** The name it gives; another than it was registered under makes it an impostor. */
  name: ShipName;
  /** False: an events socket opens and stays silent. */
  greets = true;
  #listener!: Listener;
  #gate!: Gate;
  readonly #over = Promise.withResolvers<Response>();

  private constructor(name: string, keys: readonly string[]) {
    this.name = parseIdentifier("ship", name);
    for (const key of keys) this.workspaces.set(key, row(key));
  }

  static async start(name: string, keys: readonly string[] = []): Promise<ShipDouble> {
    const ship = new ShipDouble(name, keys);
    const fetch = router({
      table: shipApi,
      handlers: ship.#handlers(),
      gate: { identify: () => null, authorize: () => {} },
      log: silentLog,
    });
    ship.#listener = await listen({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, connection) => {
        ship.asked.push({
          method: request.method,
          target: connection.rawTarget,
          authorization: request.headers.get("authorization"),
          accept: request.headers.get("accept"),
        });
        return fetch(request, connection);
      },
      limits: { shutdownGraceMs: 300, shutdownMs: 1500 },
    });
    ship.#gate = new Gate(ship.#listener.port);
    return ship;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#gate.port}`;
  }

  /** An answer that does not come while the ship lives. */
  hang(): Promise<Response> {
    return this.#over.promise;
  }

  /** From now on not a byte passes, though every connection stays open. */
  freeze(): void {
    this.#gate.frozen = true;
  }
  /** Cuts every connection, and takes no new one until `mend`. */
  cut(): void {
    this.#gate.cut();
  }
  mend(): void {
    this.#gate.mend();
  }

  emit(type: WorkspaceEventType, workspace: WorkspaceSummary, as: ShipName = this.name): void {
    this.send({ type, ship: as, at: new Date().toISOString(), workspace });
  }
  send(frame: unknown): void {
    for (const socket of this.sockets) socket.send(JSON.stringify(frame));
  }
  sync(): void {
    this.send(this.#syncFrame());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gate[Symbol.dispose]();
    this.#over.resolve(new Response(null));
    await this.#listener.shutdown();
  }

  #syncFrame() {
    const workspaces = [...this.workspaces.values()];
    return { type: "sync", ship: this.name, at: new Date().toISOString(), workspaces };
  }

  #serveEvents(socket: Socket): void {
    this.sockets.add(socket);
    socket.onText(() => {});
    socket.onClose(() => void this.sockets.delete(socket));
    if (this.greets) socket.send(JSON.stringify(this.#syncFrame()));
  }

  #find({ repo, name }: { repo: WorkspaceSummary["repoName"]; name: WorkspaceSummary["name"] }) {
    const id = { repoName: repo, name };
    const found = this.workspaces.get(workspaceKey(id));
    if (found === undefined) throw fail("workspaceNotFound", id);
    return found;
  }

  #change(type: WorkspaceEventType, before: WorkspaceSummary, to: Partial<WorkspaceSummary>) {
    const after = { ...before, ...to };
    this.workspaces.set(workspaceKey(after), after);
    this.emit(type, after);
    return ok;
  }

  #handlers(): Handlers<ShipApi, null> {
    const plain: Handlers<ShipApi, null> = {
      listWorkspaces: () => [...this.workspaces.values()],
      createWorkspace: ({ body }) => {
        const made = row(`${body.repoName}/${body.name}`, { branch: body.branch });
        this.#change("workspace.created", made, {});
        return made;
      },
      getWorkspace: ({ params }) => {
        const { repoName, name, branch } = this.#find(params);
        return { state: "inactive", repoName, name, branch };
      },
      deleteWorkspace: ({ params }) => {
        const found = this.#find(params);
        this.workspaces.delete(workspaceKey(found));
        this.emit("workspace.removed", found);
        return ok;
      },
      diffWorkspace: ({ params }) => `diff of ${this.#find(params).name}\n`,
      switchBranch: ({ params, body }) =>
        this.#change("workspace.branch_changed", this.#find(params), { branch: body.branch }),
      activateWorkspace: ({ params }) =>
        this.#change("workspace.activated", this.#find(params), { active: true }),
      deactivateWorkspace: ({ params }) =>
        this.#change("workspace.deactivated", this.#find(params), { active: false }),
      mcpGet: () => new Response(null, { status: 405 }),
      mcpPost: () => new Response(null, { status: 405 }),
      mcpDelete: () => new Response(null, { status: 405 }),
      agentCredentials: ({ body }) => {
        this.agentCredentials.push(body);
        return ok;
      },
      systemResources: () => figures,
      armoryState: () => neverSynced,
      syncArmory: () => neverSynced,
      // No session here has a screen.
      terminal: ({ connection, request }) =>
        connection.upgrade(request, {
          onSocket: (socket) => {
            socket.send(JSON.stringify({ type: "exit", code: 1 }));
            socket.close(1000);
          },
        }),
      events: ({ connection, request }) =>
        connection.upgrade(request, { onSocket: (socket) => this.#serveEvents(socket) }),
    };
    const scripted = Object.entries(plain).map(([name, handler]) => [
      name,
      (call: never) =>
        (this.script[name as keyof ShipApi] as typeof handler | undefined ?? handler)(call),
    ]);
    return Object.fromEntries(scripted) as Handlers<ShipApi, null>;
  }
}

const neverSynced: ArmorySyncState = {
  revision: null,
  bridgeUrl: null,
  syncedAt: null,
  fileCount: 0,
  install: null,
  lastError: null,
};

/** A TCP relay that can hold its breath or hang up. */
class Gate implements Disposable {
  frozen = false;
  #open = true;
  #listener: Deno.TcpListener;
  readonly #pairs = new Set<readonly [Deno.TcpConn, Deno.TcpConn]>();

  constructor(private readonly targetPort: number) {
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    void this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  cut(): void {
    this.#open = false;
    for (const pair of this.#pairs) close(pair);
  }
  mend(): void {
    this.frozen = false;
    this.#open = true;
  }

  [Symbol.dispose](): void {
    this.cut();
    this.#listener.close();
  }

  async #accept(): Promise<void> {
    try {
      for await (const client of this.#listener) {
        if (this.#open) void this.#join(client);
        else client.close();
      }
    } catch {
      // Closed.
    }
  }

  async #join(client: Deno.TcpConn): Promise<void> {
    const ship = await Deno.connect({ hostname: "127.0.0.1", port: this.targetPort })
      .catch(() => null);
    if (ship === null || !this.#open) {
      if (ship !== null) ship.close();
      return client.close();
    }
    const pair = [client, ship] as const;
    this.#pairs.add(pair);
    await Promise.race([this.#pump(client, ship), this.#pump(ship, client)]);
    close(pair);
    this.#pairs.delete(pair);
  }

  async #pump(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const count = await from.read(buffer);
        if (count === null) return;
        // What arrives while frozen is lost with the connection; nothing here thaws one.
        if (this.frozen) continue;
        for (let at = 0; at < count;) at += await to.write(buffer.subarray(at, count));
      }
    } catch {
      // The other side hung up.
    }
  }
}

function close(pair: readonly [Deno.TcpConn, Deno.TcpConn]): void {
  for (const connection of pair) {
    try {
      connection.close();
    } catch {
      // Closed already.
    }
  }
}
