/** A whole ship in this process: real git, real tmux on a socket directory of its own, a real port. */
import { armoryPlaces } from "../../shared/host/ship_places.ts";
import { join } from "node:path";
import { silentLog } from "../../shared/log.ts";
import { parseIdentifier } from "../../shared/parse.ts";
import { startShip } from "../../ship/ship.ts";
import { gitPath, timeoutPath } from "./grid_support.ts";

export interface RunningShip extends AsyncDisposable {
  readonly url: string;
  readonly gridDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

const tmuxPath = "/usr/bin/tmux";

export interface RunningShipOptions {
  readonly bridgeToken?: string;
  /** What sessions run (default: something that waits). */
  readonly sessionCommand?: string;
}

export async function runningShip(
  name: string,
  options: RunningShipOptions = {},
): Promise<RunningShip> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "grid-ship-" }));
  const home = join(root, "home");
  const environment = {
    PATH: "/usr/bin:/bin",
    HOME: home,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    TMUX_TMPDIR: root,
  };
  await Deno.mkdir(home);
  const ship = await startShip(
    {
      gridDirectory: join(root, "grid"),
      name: parseIdentifier("ship", name),
      hostname: "127.0.0.1",
      port: 0,
      stateDirectory: join(root, "state"),
      bridgeUrl: null,
      places: armoryPlaces({ home, skillsDirs: [], pluginsDirs: [], dotfileRoots: [] }),
      sessionCommand: options.sessionCommand ?? "sleep 600",
      shell: "/bin/sh",
      cloneProtocols: ["https", "http", "ssh", "git", "file"],
      allowedOrigins: [],
      logFormat: null,
      bridgeToken: options.bridgeToken ?? null,
      shipToken: null,
      environment,
    },
    {
      git: gitPath,
      tmux: tmuxPath,
      timeout: timeoutPath,
      script: "/usr/bin/script",
      stty: "/usr/bin/stty",
      ln: "/usr/bin/ln",
    },
    silentLog,
  );
  return {
    url: ship.url,
    gridDirectory: join(root, "grid"),
    environment,
    async [Symbol.asyncDispose]() {
      await ship[Symbol.asyncDispose]();
      // Sessions outlive a ship; a test's must not.
      await new Deno.Command(tmuxPath, {
        args: ["-L", "grid-ship", "kill-server"],
        clearEnv: true,
        env: environment,
        stdout: "null",
        stderr: "null",
      }).output();
      await Deno.remove(root, { recursive: true });
    },
  };
}
