/**
 * A supported double of the bridge: the real routes of `bridgeApi` through the real router and listener,
 * over state in memory. Run as a program it is a daemon: `scripted_bridge.ts --port=0`.
 */
import { readLaunchRequest, writeExchange } from "../../bridge/launch/exchange.ts";
import { type BridgeApi, bridgeApi } from "../../shared/api/bridge_api.ts";
import { EventHub } from "../../shared/event_hub.ts";
import { fail, failures } from "../../shared/errors.ts";
import { listen } from "../../shared/host/listen.ts";
import { onStop } from "../../shared/host/lifecycle.ts";
import { type Handlers, router } from "../../shared/http/router.ts";
import { type RepoName, type ShipName, type WorkspaceId, workspaceKey } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import type { ArmoryManifest, ShipArmoryState } from "../../shared/schema/armory.ts";
import type { BridgeEvent, WorkspaceEventType } from "../../shared/schema/event.ts";
import type { Repo } from "../../shared/schema/repo.ts";
import type { RegisterShip, ShipInfo } from "../../shared/schema/ship.ts";
import type { BridgeWorkspaceSummary } from "../../shared/schema/workspace.ts";

export class ScriptedBridge {
  readonly ships: ShipInfo[] = [];
  readonly repos: Repo[] = [];
  readonly workspaces = new Map<string, BridgeWorkspaceSummary>();
  /** What `GET …/diff` answers. */
  diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n";
  /** A text: where the broken dotfile map lies. */
  armory: ArmoryManifest | string = { revision: "0".repeat(64), entries: [], dotfileMap: {} };
  armoryShips: ShipArmoryState[] = [];
  authRequired = false;
  /** Answer a create plainly, although a stream was asked for. */
  plainCreate = false;
  /** Every request seen: `GET /ships`. */
  readonly seen: string[] = [];
  readonly authorizations: Array<string | null> = [];
  /** The bodies of `POST /ships`. */
  readonly registrations: RegisterShip[] = [];
  readonly #events = new EventHub<BridgeEvent>();
  readonly handlers = this.#handlers();

  readonly fetch = router<BridgeApi, null>({
    table: bridgeApi,
    handlers: this.handlers,
    log: silentLog,
    gate: {
      identify: (request) => {
        const url = new URL(request.url);
        this.seen.push(`${request.method} ${url.pathname}${url.search}`);
        this.authorizations.push(request.headers.get("authorization"));
        return null;
      },
      authorize: () => {},
    },
  });

  addShip(name: string, status: ShipInfo["status"] = "online", url = `http://${name}:4700`): void {
    this.ships.push({ name: name as ShipName, url, status });
  }

  addWorkspace(
    key: string,
    more: Partial<BridgeWorkspaceSummary> = {},
  ): BridgeWorkspaceSummary {
    const [repo = "", name = ""] = key.split("/");
    const made: BridgeWorkspaceSummary = {
      repoName: parseIdentifier("repo", repo),
      name: parseIdentifier("workspace", name),
      branch: name,
      active: false,
      agent: null,
      ship: "aurora" as ShipName,
      ephemeral: null,
      ...more,
    };
    this.workspaces.set(workspaceKey(made), made);
    return made;
  }

  publish(type: WorkspaceEventType, workspace: BridgeWorkspaceSummary): void {
    this.#events.publish({ type, at: new Date().toISOString(), workspace });
  }

  /** Serves it on a free port of 127.0.0.1. */
  async serve(port = 0): Promise<{ readonly url: string } & AsyncDisposable> {
    const listener = await listen({ hostname: "127.0.0.1", port, fetch: this.fetch });
    return { url: listener.url, [Symbol.asyncDispose]: () => listener.shutdown() };
  }

  #find(id: WorkspaceId): BridgeWorkspaceSummary {
    const found = this.workspaces.get(workspaceKey(id));
    if (found === undefined) throw fail("workspaceNotFound", id);
    return found;
  }

  #change(
    params: { repo: RepoName; name: WorkspaceId["name"] },
    type: WorkspaceEventType,
    change: Partial<BridgeWorkspaceSummary>,
  ): { ok: true } {
    const changed = { ...this.#find({ repoName: params.repo, name: params.name }), ...change };
    this.workspaces.set(workspaceKey(changed), changed);
    this.publish(type, changed);
    return { ok: true };
  }

  #handlers(): Handlers<BridgeApi, null> {
    const others = Object.fromEntries(
      Object.keys(bridgeApi).map((name) => [name, () => {
        throw fail("notFound");
      }]),
    ) as unknown as Handlers<BridgeApi, null>;
    return {
      ...others,
      authMode: () => ({ authRequired: this.authRequired }),
      wsTicket: () => ({ ticket: "t1", expiresAt: new Date().toISOString() }),
      listShips: () => this.ships,
      registerShip: async ({ body }) => {
        const { url, bridgeToken, shipToken } = body;
        this.registrations.push(body);
        if ((bridgeToken === undefined) !== (shipToken === undefined)) throw fail("oneTokenOnly");
        const name = await nameOf(url);
        if (this.ships.some((ship) => ship.name === name)) {
          throw fail("shipAlreadyRegistered", { name });
        }
        this.addShip(name, "online", url);
        return this.ships.at(-1)!;
      },
      removeShip: ({ params: { name } }) => {
        const index = this.ships.findIndex((ship) => ship.name === name);
        if (index === -1) throw fail("shipNotFound", { name });
        this.ships.splice(index, 1);
        return { ok: true };
      },
      allResources: () =>
        this.ships.map(({ name, status }) => ({
          ship: name,
          status,
          resources: status === "online" ? figures : null,
          error: status === "online" ? null : failures.shipOffline.message({ ship: name }),
        })),
      listRepos: () => this.repos,
      createRepo: ({ body: { name, url, provider } }) => {
        const repo = { name: parseIdentifier("repo", name), url, provider: provider ?? "custom" };
        if (this.repos.some((one) => one.name === name)) {
          throw fail("repoAlreadyRegistered", { name });
        }
        this.repos.push(repo);
        return repo;
      },
      removeRepo: ({ params: { name } }) => {
        const index = this.repos.findIndex((repo) => repo.name === name);
        if (index === -1) throw fail("repoNotFound", { name });
        this.repos.splice(index, 1);
        return { ok: true };
      },
      listBranches: () => [{ name: "main", sha: "0123456789abcdef0123456789abcdef01234567" }],
      listWorkspaces: ({ query: { active } }) =>
        [...this.workspaces.values()].filter((one) =>
          active === "true" ? one.active : active === "false" ? !one.active : true
        ),
      createWorkspace: ({ body, request }) => {
        const id = {
          repoName: parseIdentifier("repo", body.repoName),
          name: parseIdentifier("workspace", body.name),
        };
        if (this.workspaces.has(workspaceKey(id))) throw fail("workspaceExists", id);
        const made = this.addWorkspace(workspaceKey(id), {
          branch: body.branch ?? "main",
          ship: body.ship as ShipName,
        });
        this.publish("workspace.created", made);
        const streamed = request.headers.get("accept")?.includes("text/event-stream");
        return streamed && !this.plainCreate ? createStream(made) : made;
      },
      getWorkspace: ({ params }) => {
        const { active, agent, ...rest } = this.#find({ repoName: params.repo, name: params.name });
        return active
          ? {
            ...rest,
            state: "active",
            agent,
            diff: { added: 3, removed: 1, commits: 2 },
            issue: null,
            mergeRequest: null,
          }
          : { ...rest, state: "inactive" };
      },
      deleteWorkspace: ({ params }) => {
        const found = this.#find({ repoName: params.repo, name: params.name });
        this.workspaces.delete(workspaceKey(found));
        this.publish("workspace.removed", found);
        return { ok: true };
      },
      diffWorkspace: ({ params }) => {
        this.#find({ repoName: params.repo, name: params.name });
        return this.diff;
      },
      switchBranch: ({ params, body: { branch } }) =>
        this.#change(params, "workspace.branch_changed", { branch }),
      activateWorkspace: ({ params }) => {
        const id = { repoName: params.repo, name: params.name };
        if (this.#find(id).active) throw fail("workspaceAlreadyActive", id);
        return this.#change(params, "workspace.activated", { active: true });
      },
      deactivateWorkspace: ({ params }) => {
        const id = { repoName: params.repo, name: params.name };
        if (!this.#find(id).active) throw fail("workspaceNotActive", id);
        return this.#change(params, "workspace.deactivated", { active: false });
      },
      armoryManifest: () => {
        if (typeof this.armory !== "string") return this.armory;
        throw fail("invalidDotfileMap", { file: this.armory, faults: ['"x": is wrong'] });
      },
      armoryShips: () => this.armoryShips,
      events: ({ request, connection }) =>
        connection.upgrade(request, {
          onSocket: (socket) => {
            const send = (event: BridgeEvent) => socket.send(JSON.stringify(event));
            const workspaces = [...this.workspaces.values()];
            const subscription = this.#events.subscribe(send);
            socket.onClose(() => subscription[Symbol.dispose]());
            send({ type: "sync", at: new Date().toISOString(), workspaces });
          },
        }),
    };
  }
}

/** A scripted ship tells its name at `/`. */
async function nameOf(url: string): Promise<ShipName> {
  try {
    return parseIdentifier("ship", await (await fetch(url)).text());
  } catch (thrown) {
    throw fail("shipDidNotRespond", { url, message: String(thrown) });
  }
}

function createStream(made: BridgeWorkspaceSummary): Response {
  const frame = (event: string, data: unknown) =>
    `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  const text =
    frame("progress", { phase: "Counting objects", percent: null, done: 7, total: null }) +
    frame("progress", { phase: "Receiving objects", percent: 50, done: 5, total: 10 }) +
    frame("result", { status: 201, body: made });
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

const figures = {
  uptimeSeconds: 93_600,
  os: {
    type: "Linux",
    platform: "linux",
    release: "6.1.0",
    version: "#1",
    arch: "x64",
    machine: "x86_64",
    hostname: "host-1",
  },
  cpu: { model: "a cpu", cores: 4, usage: 0.25, loadAverage: [0.5, 0.4, 0.3] },
  memory: { total: 8 * 1024 ** 3, free: 6 * 1024 ** 3, used: 2 * 1024 ** 3, usage: 0.25 },
} satisfies import("../../shared/schema/ship.ts").SystemResources;

/** The exchange of a launched bridge: made-up tokens, and no session, for nobody needs one here. */
async function answerLauncher(): Promise<void> {
  const file = /--launch-file=(\S+)/.exec(Deno.args.join(" "))?.[1];
  const request = file === undefined ? null : await readLaunchRequest(file);
  if (file === undefined || request === null) return;
  const ships = request.ships.map((name) => ({ name, bridgeToken: "b", shipToken: "s" }));
  await writeExchange(file, { kind: "answer", ships, session: null, firstAdminCreated: false });
}

if (import.meta.main) {
  const port = Number(/--port=(\d+)/.exec(Deno.args.join(" "))?.[1] ?? "0");
  const stopped = Promise.withResolvers<void>();
  using _stop = onStop(() => stopped.resolve());
  await using server = await new ScriptedBridge().serve(port);
  await answerLauncher();
  console.log(`listening on ${server.url}`);
  await stopped.promise;
}
