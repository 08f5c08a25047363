/** Two ways to a session that plays bytes: straight to the ship's terminals, and by bridge and ship. */
import { listen } from "../../shared/host/listen.ts";
import { dial } from "../../shared/host/dial.ts";
import type { Socket } from "../../shared/http/socket.ts";
import { limits } from "../../shared/limits.ts";
import { sessionName as sessionNameOf } from "../../ship/tmux/names.ts";
import { FleetRig } from "../support/fleet_rig.ts";
import { idOf, makeRemote } from "../support/grid_support.ts";
import { socketPair } from "../support/memory_socket.ts";
import { runningShip } from "../support/running_ship.ts";
import { playerLine } from "./player.ts";
import { decoder, sessionName, TmuxFixture } from "./terminal_fixture.ts";
import type { TmuxServer } from "./witness.ts";

export interface Route extends AsyncDisposable {
  readonly server: TmuxServer;
  readonly session: string;
  /** Where the session's `play` and `title` are. */
  readonly folder: string;
  connect(): Promise<Socket>;
}

/** The ship's terminals alone, over a connection in memory. */
export async function shipRoute(): Promise<Route> {
  const tmux = await TmuxFixture.start();
  const session = sessionName("c");
  await tmux.session(session, playerLine(tmux.folder));
  return {
    server: tmux,
    session,
    folder: tmux.folder,
    connect() {
      const [client, server] = socketPair();
      tmux.terminals.serve(server, session);
      return Promise.resolve(client);
    },
    [Symbol.asyncDispose]: () => tmux[Symbol.asyncDispose](),
  };
}

/** A bridge's routes and a whole ship, a workspace between them, sockets with deflate on both legs. */
export async function bridgeRoute(): Promise<Route> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "player-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const ship = stack.use(await runningShip("ark", { sessionCommand: playerLine(folder) }));
  const rig = stack.use(await FleetRig.start());
  await rig.ask("POST", "/ships", { url: ship.url });
  await rig.repo("web", await makeRemote(folder));
  const workspace = { ship: "ark", repoName: "web", name: "work", branch: "main" };
  for (const [path, json] of [["", workspace], ["/web/work/activate", undefined]] as const) {
    const { status, body } = await rig.ask("POST", `/workspaces${path}`, json);
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(body)}`);
  }
  const bridge = await listen({ hostname: "127.0.0.1", port: 0, fetch: rig.fetch });
  stack.defer(() => bridge.shutdown());
  const owned = stack.move();
  return {
    server: { environment: ship.environment, tmux: (...args) => tmux(ship.environment, args) },
    session: await sessionNameOf(idOf("web", "work")),
    folder,
    connect: () =>
      dial(`ws://127.0.0.1:${bridge.port}/workspaces/web/work/terminal`, {
        compress: true,
        payloadBytesMax: limits.terminalPayloadBytesMax,
        openTimeoutMs: 5_000,
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function tmux(env: Readonly<Record<string, string>>, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("/usr/bin/tmux", {
    args: ["-u", "-L", "grid-ship", ...args],
    clearEnv: true,
    env,
  }).output();
  if (!success) throw new Error(`tmux ${args[0]}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
