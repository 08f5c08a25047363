/** Bare repositories over HTTP with basic authentication, through git's own `http-backend`. */
import { dirname, join } from "node:path";

export interface GitHttp extends AsyncDisposable {
  readonly port: number;
  /** The `Authorization` header of every request. */
  readonly authorizations: (string | null)[];
}

/** Serves the directory of `remote`; with `credential` (`user:password`) only to who presents it. */
export function serveGitHttp(remote: string, credential: string | null): GitHttp {
  const authorizations: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const authorization = request.headers.get("authorization");
    authorizations.push(authorization);
    if (credential !== null && authorization !== `Basic ${btoa(credential)}`) {
      await request.body?.cancel();
      return new Response("no", {
        status: 401,
        headers: { "www-authenticate": 'Basic realm="grid"' },
      });
    }
    return await backend(dirname(remote), request);
  });
  return {
    port: server.addr.port,
    authorizations,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function backend(root: string, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const child = new Deno.Command("/usr/bin/git", {
    args: ["http-backend"],
    clearEnv: true,
    env: {
      PATH: "/usr/bin:/bin",
      GIT_PROJECT_ROOT: join(root),
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
      GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new Uint8Array(await request.arrayBuffer())).catch(() => {});
  await writer.close().catch(() => {});
  const { stdout } = await child.output();
  const text = new TextDecoder("latin1").decode(stdout);
  const end = text.indexOf("\r\n\r\n");
  const headers = new Headers();
  let status = 200;
  for (const line of text.slice(0, end).split("\r\n")) {
    const [name = "", ...rest] = line.split(": ");
    if (name === "Status") status = Number.parseInt(rest.join(": "));
    else headers.set(name, rest.join(": "));
  }
  return new Response(stdout.slice(end + 4), { status, headers });
}

/** Accepts connections and never answers. */
export function serveSilence(): { readonly port: number } & AsyncDisposable {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Deno.Conn[] = [];
  const loop = (async () => {
    for await (const connection of listener) connections.push(connection);
  })();
  return {
    port: listener.addr.port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await loop.catch(() => {});
      for (const connection of connections) connection.close();
    },
  };
}
