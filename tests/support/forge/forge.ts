/**
 * A forge for tests: GitHub's API over real HTTP, held to GitHub's published descriptions, in front of a real
 * bare repository that is served over HTTP as well. `faults` lists whatever GitHub would not have accepted, or
 * would not have answered; tests assert that it stays empty.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type GitHttp, serveGitHttp } from "../git_http_support.ts";
import { git } from "../grid_support.ts";
import { answerGraphql } from "./graphql_side.ts";
import { openApi } from "./openapi.ts";
import { answerRest } from "./rest_side.ts";
import { ForgeState } from "./state.ts";

export interface ForgeRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly authorization: string | null;
  readonly status: number;
}

export const forgeToken = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

export class TestForge implements AsyncDisposable {
  readonly faults: string[] = [];
  readonly requests: ForgeRequest[] = [];
  /** Answers instead, when it gives a response: rate limits, failures, silence. */
  override: ((request: Request) => Response | Promise<Response> | null) | null = null;
  #server!: Deno.HttpServer<Deno.NetAddr>;
  #git!: GitHttp;

  private constructor(readonly directory: string, readonly state: ForgeState) {}

  static async start(): Promise<TestForge> {
    const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "forge-" }));
    const bare = join(directory, "acme", "web.git");
    await makeRepository(directory, bare);
    const forge = new TestForge(directory, new ForgeState("acme", "web", bare));
    forge.#git = serveGitHttp(join(directory, "acme"), null);
    forge.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) =>
        forge.#answer(request).catch((thrown: unknown) => {
          forge.faults.push(`the forge itself: ${String(thrown)}`);
          return new Response("broken", { status: 599 });
        }),
    );
    return forge;
  }

  /** As an Enterprise Server has it. */
  get apiUrl(): string {
    return `${this.#origin}/api/v3`;
  }
  get cloneUrl(): string {
    return `http://127.0.0.1:${this.#git.port}/acme/web.git`;
  }
  get github() {
    return { token: forgeToken, apiUrl: this.apiUrl };
  }
  get #origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  assertFaultless(): void {
    assert.deepEqual(this.faults, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    await this.#git[Symbol.asyncDispose]();
    await Deno.remove(this.directory, { recursive: true });
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const response = await this.override?.(request) ?? await this.#route(request, pathname);
    const authorization = request.headers.get("authorization");
    const { status } = response;
    this.requests.push({ method: request.method, path: pathname, search, authorization, status });
    return response;
  }

  async #route(request: Request, pathname: string): Promise<Response> {
    if (pathname.startsWith("/logs/")) return this.#log(request, Number(pathname.slice(6)));
    if (request.headers.get("authorization") !== `token ${forgeToken}`) {
      await request.body?.cancel();
      return Response.json({ message: "Bad credentials" }, { status: 401 });
    }
    if (pathname === "/api/graphql") {
      const { body, faults } = await answerGraphql(
        this.state,
        this.#origin,
        await request.json(),
      );
      this.faults.push(...faults);
      return Response.json(body);
    }
    return await this.#rest(request, pathname.replace(/^\/api\/v3/, ""));
  }

  async #rest(request: Request, pathname: string): Promise<Response> {
    const api = openApi();
    const found = api.find(request.method, pathname);
    const text = await request.text();
    if (found === null) {
      this.faults.push(`no such route: ${request.method} ${pathname}`);
      return Response.json({ message: "Not Found" }, { status: 404 });
    }
    const query = new URL(request.url).searchParams;
    const body = text === "" ? undefined : JSON.parse(text);
    const wrong = api.requestFaults(found, query, body);
    if (wrong.length > 0) {
      this.faults.push(...wrong);
      return Response.json({ message: "Validation Failed", errors: wrong }, { status: 422 });
    }
    const answer = await answerRest(this.state, {
      operation: `${request.method} ${found.path}`,
      parameters: found.parameters,
      query,
      body,
      webUrl: this.#origin,
    });
    // The description leaves out errors that every route may answer with.
    const described = answer.status < 400 || answer.status in found.operation.responses;
    if (described) {
      this.faults.push(...api.responseFaults(found, answer.status, answer.body));
    }
    return await this.#response(request, answer);
  }

  async #response(
    request: Request,
    { status, body, location }: { status: number; body: unknown; location?: string },
  ): Promise<Response> {
    if (location !== undefined) return new Response(null, { status, headers: { location } });
    const text = JSON.stringify(body);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const etag = `W/"${new Uint8Array(digest).toHex()}"`;
    if (status === 200 && request.headers.get("if-none-match") === etag) {
      return new Response(null, { status: 304, headers: { etag } });
    }
    return new Response(text, { status, headers: { "content-type": "application/json", etag } });
  }

  /** GitHub's logs lie on another host, which must not see the token. */
  #log(_request: Request, id: number): Response {
    const run = this.state.checkRuns.find((one) => one.id === id);
    return new Response(run?.log ?? "", { headers: { "content-type": "text/plain" } });
  }
}

async function makeRepository(directory: string, bare: string): Promise<void> {
  const work = join(directory, "seed");
  await Deno.mkdir(join(directory, "acme"));
  await Deno.mkdir(work);
  await git(work, "init", "-q");
  await Deno.writeTextFile(join(work, "README"), "one\n");
  await git(work, "add", ".");
  await git(work, "commit", "-qm", "first");
  await git(directory, "clone", "-q", "--bare", work, bare);
  await git(bare, "config", "http.receivepack", "true");
}
