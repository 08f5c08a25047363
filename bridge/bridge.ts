/**
 * The bridge, put together: the only place that knows all of its parts. `startBridge` opens the data
 * directory and the port and serves until the returned handle is disposed.
 */
import { join } from "node:path";
import { bridgeApi } from "../shared/api/bridge_api.ts";
import { systemClock } from "../shared/clock.ts";
import { CommandLane } from "../shared/host/command.ts";
import { dial } from "../shared/host/dial.ts";
import { listen } from "../shared/host/listen.ts";
import { lockDirectory } from "../shared/host/lock.ts";
import { resolveHost } from "../shared/host/resolve.ts";
import type { RunningDaemon } from "../shared/host/run_daemon.ts";
import { browserRules } from "../shared/http/browser_guard.ts";
import { router } from "../shared/http/router.ts";
import { limits } from "../shared/limits.ts";
import type { Log } from "../shared/log.ts";
import { ArmoryDistribution } from "./armory/distribution.ts";
import { armoryHandlers } from "./armory/routes.ts";
import { Armory } from "./armory/serve.ts";
import { Audit } from "./auth/audit.ts";
import { Authentication } from "./auth/authentication.ts";
import type { AdminTerminal } from "./auth/first_admin.ts";
import { answerLaunch, ensureFirstAdmin } from "./auth/launched.ts";
import { readLaunchRequest, writeExchange } from "./launch/exchange.ts";
import { InsecureBanner } from "./auth/insecure_banner.ts";
import { AuthStore, type OpenKv } from "./auth/store.ts";
import { audited } from "./audited.ts";
import type { BridgeConfig } from "./config.ts";
import { EphemeralStore } from "./ephemeral/records.ts";
import { Sweeper } from "./ephemeral/sweeper.ts";
import { sweptFleet } from "./ephemeral/swept_fleet.ts";
import { BridgeEvents } from "./events.ts";
import { AgentCredentialPush } from "./fleet/agent_credentials.ts";
import { Branches } from "./fleet/branches.ts";
import { Fleet } from "./fleet/fleet.ts";
import { Repos } from "./fleet/repos.ts";
import { GitHubProvider } from "./provider/github/github.ts";
import { Providers } from "./provider/providers.ts";
import { bridgeHandlers } from "./routes.ts";
import { Creator } from "./routing/create.ts";
import { Forward } from "./routing/forward.ts";
import { TerminalRoute } from "./routing/terminal.ts";
import { Merged } from "./routing/merged.ts";

/** What the process gives its bridge. */
export interface BridgeHost {
  /** Absolute paths. */
  readonly programs: { readonly git: string; readonly timeout: string };
  readonly openKv: OpenKv;
  readonly log: Log;
  /** A line for the operator that is no log line. */
  readonly tell: (line: string) => void;
  /** Who may be asked for the first admin; null: nobody is there. */
  readonly terminal: AdminTerminal | null;
}

/** Starts the bridge. Throws when its data directory is taken or damaged, or its port cannot be bound. */
export async function startBridge(config: BridgeConfig, host: BridgeHost): Promise<RunningDaemon> {
  const { dataDirectory } = config;
  const { log } = host;
  const clock = systemClock;
  await using stack = new AsyncDisposableStack();
  await Deno.mkdir(dataDirectory, { recursive: true });
  stack.use(await lockDirectory(dataDirectory, "bridge.lock", "a bridge"));
  const audit = stack.use(
    new Audit({ path: join(dataDirectory, "audit.jsonl"), log, now: () => clock.now() }),
  );
  await audit.start();
  const store = stack.use(await AuthStore.open(join(dataDirectory, "auth.db"), host.openKv));

  let port = config.port;
  const authentication = stack.use(
    new Authentication({
      store,
      audit,
      clock,
      log,
      insecure: config.insecureNoAuth,
      browserRules: () =>
        browserRules({
          publicUrl: publicUrl(config, port),
          origins: config.allowedOrigins,
          hostname: config.hostname,
          port,
        }),
    }),
  );
  await prepareAuthentication(authentication, config, host);
  authentication.start();
  const fleet = stack.use(
    new Fleet({
      dataDirectory,
      dial,
      resolve: resolveHost,
      allowLinkLocal: config.allowLinkLocal,
      credentials: authentication.shipCredentials,
      clock,
      log,
    }),
  );
  const repos = new Repos(dataDirectory);
  await repos.start();
  const providers = new Providers([new GitHubProvider({ ...config.github, clock })]);
  const ephemeral = new EphemeralStore(dataDirectory);
  await ephemeral.start();
  const merged = new Merged(fleet, ephemeral, log);
  const events = stack.use(new BridgeEvents({ fleet, merged, ephemeral, clock }));
  events.start();
  await fleet.start();
  const forward = new Forward(fleet, ephemeral);
  const sweeper = stack.use(
    new Sweeper({
      records: ephemeral,
      providers,
      repo: (name) => repos.find(name),
      fleet: sweptFleet(fleet, forward),
      intervalMs: config.sweepIntervalMs,
      clock,
      log,
    }),
  );
  const agentCredentials = stack.use(
    new AgentCredentialPush({
      fleet,
      tokens: authentication.agentTokens,
      bridgeUrl: () => publicUrl(config, port),
      log,
    }),
  );

  const armory = new Armory({ directory: join(dataDirectory, "armory"), clock, log });
  const bridgeUrl = () => publicUrl(config, port);
  const distribution = stack.use(new ArmoryDistribution({ armory, fleet, bridgeUrl, clock, log }));

  const lane = new CommandLane({
    programs: { git: host.programs.git },
    timeoutPath: host.programs.timeout,
    environment: config.environment,
    concurrencyMax: limits.gitConcurrencyMax,
    queueMax: limits.gitQueueMax,
  });
  const fetch = router({
    table: bridgeApi,
    log,
    gate: authentication.gate,
    handlers: audited(audit, {
      ...authentication.handlers,
      ...armoryHandlers({ armory, distribution }),
      ...bridgeHandlers({
        fleet,
        repos,
        merged,
        events,
        branches: new Branches(lane),
        forward,
        creator: new Creator({ fleet, repos, providers, ephemeral, log }),
        providers,
        sweeper,
        terminal: new TerminalRoute({ fleet, dial, log }),
        watch: (principal, socket) => authentication.liveSockets.register(principal, socket),
      }),
    }),
  });
  const listener = await listen({ hostname: config.hostname, port: config.port, fetch });
  stack.defer(() => listener.shutdown());
  port = listener.port;
  // Not before the bridge answers: a ship that is told pulls at once.
  distribution.start();
  // From here on the bridge can be called: ships are told where.
  agentCredentials.start();
  sweeper.start();
  if (config.insecureNoAuth) stack.use(new InsecureBanner(clock, host.tell)).start();

  const owned = stack.move();
  return { url: listener.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The first admin, and the answer to a launcher; both before anybody can ask anything. */
async function prepareAuthentication(
  authentication: Authentication,
  config: BridgeConfig,
  { terminal }: BridgeHost,
): Promise<void> {
  const insecure = config.insecureNoAuth;
  const firstAdminCreated = await ensureFirstAdmin(authentication, {
    insecure,
    variables: config.admin,
    terminal,
  });
  if (config.launchFile === null) return;
  const request = await readLaunchRequest(config.launchFile);
  if (request === null) return;
  await writeExchange(
    config.launchFile,
    await answerLaunch(authentication, request, { insecure, firstAdminCreated }),
  );
}

/** Where people and ships find the bridge. */
function publicUrl(config: BridgeConfig, port: number): string {
  return config.publicUrl ?? `http://localhost:${port}`;
}
