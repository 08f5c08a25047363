/** A whole bridge in this process, with its own data directory: real listener, real database. */
import { join } from "node:path";
import { startBridge } from "../../bridge/bridge.ts";
import type { BridgeConfig } from "../../bridge/config.ts";
import { takeLaunchAnswer, writeExchange } from "../../bridge/launch/exchange.ts";
import { findProgram } from "../../shared/host/files.ts";
import type { ShipName } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";

export const adminPassword = "correct horse battery staple";

/** A bridge whose first admin is `ada`; `ships` get token pairs as the launcher would ask for them. */
export class TestBridge implements AsyncDisposable {
  private constructor(
    readonly url: string,
    readonly dataDirectory: string,
    readonly answer: Awaited<ReturnType<typeof takeLaunchAnswer>>,
    private readonly stack: AsyncDisposableStack,
  ) {}

  static async start(
    { ships = [], insecure = false }: {
      readonly ships?: readonly string[];
      readonly insecure?: boolean;
    } = {},
  ): Promise<TestBridge> {
    await using stack = new AsyncDisposableStack();
    const dataDirectory = await Deno.makeTempDir({ prefix: "grid-bridge-" });
    stack.defer(() => Deno.remove(dataDirectory, { recursive: true }));
    const launchFile = join(dataDirectory, "launch.json");
    await writeExchange(launchFile, {
      kind: "request",
      ships: ships as readonly ShipName[] as ShipName[],
      session: null,
    });
    const bridge = stack.use(
      await startBridge(config(dataDirectory, launchFile, insecure), {
        programs: { git: await program("git"), timeout: await program("timeout") },
        openKv: (path) => Deno.openKv(path),
        log: silentLog,
        tell: () => {},
        terminal: null,
      }),
    );
    const answer = await takeLaunchAnswer(launchFile);
    return new TestBridge(bridge.url, dataDirectory, answer, stack.move());
  }

  /** A request with a bearer token, if any, and a JSON body, if any. */
  async ask(
    method: string,
    path: string,
    { token, body }: { readonly token?: string | null; readonly body?: unknown } = {},
  ): Promise<Response> {
    const headers: Record<string, string> = {};
    if (token !== undefined && token !== null) headers["authorization"] = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    return await fetch(this.url + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
  }

  /** Signs in and gives the session token. */
  async login(username: string, password: string): Promise<string> {
    const response = await this.ask("POST", "/auth/login", { body: { username, password } });
    const reply = await response.json();
    if (!response.ok) throw new Error(`login failed: ${JSON.stringify(reply)}`);
    return reply.token;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }
}

function config(dataDirectory: string, launchFile: string, insecure: boolean): BridgeConfig {
  return {
    hostname: "127.0.0.1",
    port: 0,
    publicUrl: null,
    dataDirectory,
    sweepIntervalMs: 300_000,
    insecureNoAuth: insecure,
    allowedOrigins: [],
    allowLinkLocal: false,
    logFormat: "json",
    // A closed port: nobody's forge is asked.
    github: { token: null, apiUrl: "http://127.0.0.1:9" },
    environment: { PATH: Deno.env.get("PATH") ?? "" },
    admin: insecure
      ? { username: undefined, email: undefined, password: undefined }
      : { username: "ada", email: "ada@example.test", password: adminPassword },
    launchFile,
  };
}

async function program(name: string): Promise<string> {
  return await findProgram(name, Deno.env.get("PATH") ?? "") ?? name;
}
