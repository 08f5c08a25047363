/** The scripted bridge behind the real authentication: users, sessions and tickets are the product's own. */
import { join } from "node:path";
import type { Principal } from "../../bridge/auth/principals.ts";
import { type BridgeApi, bridgeApi } from "../../shared/api/bridge_api.ts";
import { listen } from "../../shared/host/listen.ts";
import { type Fetch, type Handlers, router } from "../../shared/http/router.ts";
import { silentLog } from "../../shared/log.ts";
import { AuthBench } from "./auth_support.ts";
import { cli, type CliRun, type CliRunOptions } from "./cli_support.ts";
import { ScriptedBridge } from "./scripted_bridge.ts";

export class SignedBridge implements AsyncDisposable {
  readonly bridge = new ScriptedBridge();
  /** Every request that came: `GET /ships`. */
  readonly seen: string[] = [];
  readonly #stack = new AsyncDisposableStack();

  private constructor(
    readonly bench: AuthBench,
    readonly home: string,
    readonly tokens: { readonly member: string; readonly admin: string },
  ) {
    this.#stack.use(bench);
    this.#stack.defer(() => Deno.remove(home, { recursive: true }));
  }

  url = "";

  /** With ada, an admin, and mia, a member (`people`), each with a session; nobody is signed in here. */
  static async start(): Promise<SignedBridge> {
    const { bench, ...tokens } = await AuthBench.withPeople();
    const home = await Deno.makeTempDir({ prefix: "grid-cli-home-" });
    const made = new SignedBridge(bench, home, tokens);
    const listener = await listen({ hostname: "127.0.0.1", port: 0, fetch: made.#fetch() });
    made.#stack.defer(() => listener.shutdown());
    made.url = listener.url;
    return made;
  }

  get sessionFile(): string {
    return join(this.home, "grid", "session.json");
  }

  /** `grid <line>` against it, with the session file in `home`. */
  grid(line: string, options: CliRunOptions = {}): Promise<CliRun> {
    const settings = { sessionFile: this.sessionFile, ...options.settings };
    return cli(line.split(" "), { url: this.url, ...options, settings });
  }

  /** Signs in on a pipe; fails the test when that does. */
  async signIn(person: { readonly username: string; readonly password: string }): Promise<string> {
    const run = await this.grid(`login --username ${person.username}`, {
      input: [person.password],
    });
    if (run.code !== 0) throw new Error(run.err);
    return await this.storedToken();
  }

  async storedToken(): Promise<string> {
    const { sessions } = JSON.parse(await Deno.readTextFile(this.sessionFile));
    return (Object.values(sessions)[0] as { token: string } | undefined)?.token ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #fetch(): Fetch {
    const serve = router<BridgeApi, Principal>({
      table: bridgeApi,
      log: silentLog,
      gate: this.bench.auth.gate,
      handlers: {
        // They look at no principal.
        ...this.bridge.handlers as unknown as Handlers<BridgeApi, Principal>,
        ...this.bench.auth.handlers,
      },
    });
    return (request, connection) => {
      this.seen.push(`${request.method} ${new URL(request.url).pathname}`);
      return serve(request, connection);
    };
  }
}
