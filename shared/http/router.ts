/**
 * From an endpoint table and its handlers to `fetch`. The order is fixed: parse the path, check the
 * credential, find the route, authorise, parse query and body, call the handler, and turn what it
 * gives or throws into the response. Failures become `{error, reason?}` here and nowhere else.
 */
import type { z } from "zod";
import type {
  BodyOf,
  Endpoint,
  EndpointTable,
  ParameterKind,
  ParamsOf,
  QueryOf,
  ReplyOf,
} from "../api/endpoint.ts";
import { fail, Failure } from "../errors.ts";
import { identifierFailures, parseIdentifier } from "../parse.ts";
import type { Log } from "../log.ts";
import { failureResponse, validationResponse } from "./answer.ts";
import { readJsonBody } from "./body.ts";
import type { Connection } from "./connection.ts";
import { pathSegments, readQuery } from "./target.ts";

/** What a handler gets: everything parsed, and who asked. */
export interface Call<E extends Endpoint, Principal> {
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  readonly principal: Principal;
  readonly request: Request;
  readonly connection: Connection;
}

/** A handler gives the reply's value, or a whole `Response` where the route needs another form of it. */
export type Handler<E extends Endpoint, Principal> = (
  call: Call<E, Principal>,
) => Promise<ReplyOf<E> | Response> | ReplyOf<E> | Response;

export type Handlers<Table extends EndpointTable, Principal> = {
  readonly [Name in keyof Table]: Handler<Table[Name], Principal>;
};

/** Who may pass. Both throw a `Failure` to refuse. */
export interface Gate<Principal> {
  /** Before routing, for every path alike: origin, host, credential. */
  identify(request: Request, connection: Connection): Promise<Principal> | Principal;
  /** After routing; `endpoint` is null when the path or method is unknown. */
  authorize(
    principal: Principal,
    endpoint: Endpoint | null,
    params: Readonly<Record<string, unknown>>,
  ): void;
}

export interface RouterOptions<Table extends EndpointTable, Principal> {
  readonly table: Table;
  readonly handlers: Handlers<Table, Principal>;
  readonly gate: Gate<Principal>;
  readonly log: Log;
}

export type Fetch = (request: Request, connection: Connection) => Promise<Response>;

interface Route {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly segments: readonly string[];
}

/** Builds the `fetch` of a daemon. */
export function router<Table extends EndpointTable, Principal>(
  options: RouterOptions<Table, Principal>,
): Fetch {
  const routes: Route[] = Object.entries(options.table).map(([name, endpoint]) => ({
    name,
    endpoint,
    segments: endpoint.path.slice(1).split("/"),
  }));
  return async (request, connection) => {
    try {
      return await answer(options, routes, request, connection);
    } catch (thrown) {
      return failureResponse(thrown, options.log, request);
    }
  };
}

async function answer<Table extends EndpointTable, Principal>(
  { handlers, gate }: RouterOptions<Table, Principal>,
  routes: readonly Route[],
  request: Request,
  connection: Connection,
): Promise<Response> {
  const principal = await gate.identify(request, connection);
  const segments = pathSegments(connection.rawTarget);
  const matches = routes.filter((route) => fits(route, segments));
  const method = request.method === "HEAD" ? "GET" : request.method;
  const route = best(matches.filter(({ endpoint }) => endpoint.method === method));
  if (route === undefined) {
    gate.authorize(principal, null, {});
    if (matches.length === 0) throw fail("notFound");
    return methodNotAllowed(matches);
  }
  const { endpoint } = route;
  const params = readParams(route, segments);
  // Who may not pass learns nothing of what is wrong with the path.
  gate.authorize(principal, endpoint, params instanceof Failure ? {} : params);
  if (params instanceof Failure) throw params;
  if (endpoint.reply.kind === "socket" && !isUpgrade(request)) throw fail("upgradeRequired");
  const query = endpoint.query === undefined ? {} : readQuery(endpoint.query, connection.rawTarget);
  if (query instanceof Response) return query;
  const body = endpoint.body === undefined ? undefined : await readBody(endpoint.body, request);
  if (body instanceof Response) return body;
  const handler = handlers[route.name] as unknown as Handler<Endpoint, Principal>;
  const reply = await handler({
    params,
    query,
    body: body as undefined,
    principal,
    request,
    connection,
  });
  return toResponse(endpoint, reply);
}

/** Two routes may fit one path (`/ships/:name`, `/ships/:ship/…` never do, `/workspaces/sweep` may): literal segments win. */
function best(routes: readonly Route[]): Route | undefined {
  return routes.toSorted((a, b) => parameterCount(a) - parameterCount(b))[0];
}

const parameterCount = (route: Route) => route.segments.filter((s) => s.startsWith(":")).length;

function fits(route: Route, segments: readonly string[]): boolean {
  return route.segments.length === segments.length &&
    route.segments.every((part, index) => part.startsWith(":") || part === segments[index]);
}

function methodNotAllowed(matches: readonly Route[]): Response {
  const failure = fail("methodNotAllowed");
  const allow = [...new Set(matches.map(({ endpoint }) => endpoint.method))].sort().join(", ");
  return Response.json({ error: failure.message }, { status: failure.status, headers: { allow } });
}

/** The parameters, or the failure of the first that breaks its rules. */
function readParams(route: Route, segments: readonly string[]): Record<string, never> | Failure {
  try {
    return parseParams(route, segments);
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
}

function parseParams(route: Route, segments: readonly string[]): Record<string, never> {
  const params: Record<string, unknown> = {};
  route.segments.forEach((part, index) => {
    if (!part.startsWith(":")) return;
    const name = part.slice(1);
    const kind = route.endpoint.params?.[name];
    if (kind === undefined) throw new Error(`${route.name}: parameter ${name} has no kind`);
    params[name] = readParam(kind, segments[index] ?? "");
  });
  return params as Record<string, never>;
}

function readParam(kind: ParameterKind, raw: string): unknown {
  const text = decodeSegment(raw);
  switch (kind) {
    case "text":
      if (text === null) throw fail("invalidPath");
      return text;
    case "number":
      if (text === null || !/^[1-9][0-9]{0,14}$/.test(text)) throw fail("notFound");
      return Number(text);
    case "repo":
    case "workspace":
    case "ship": {
      if (text === null) {
        throw fail(identifierFailures[kind], undefined, { reason: "must be valid UTF-8" });
      }
      return parseIdentifier(kind, text);
    }
  }
}

/** Percent-decodes once (RFC 3986 section 2.1); null for a bad escape or bytes that are not UTF-8. */
function decodeSegment(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

async function readBody(schema: z.ZodType, request: Request): Promise<unknown> {
  const parsed = schema.safeParse(await readJsonBody(request));
  return parsed.success ? parsed.data : validationResponse(parsed.error);
}

function toResponse(endpoint: Endpoint, reply: unknown): Response {
  if (reply instanceof Response) return reply;
  switch (endpoint.reply.kind) {
    case "json":
      return Response.json(reply, { status: endpoint.reply.status });
    case "text":
      return new Response(String(reply), {
        status: endpoint.reply.status,
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
    case "socket":
    case "raw":
      throw new Error(`a ${endpoint.reply.kind} route must answer with a Response`);
  }
}

/** True for a genuine WebSocket opening handshake (RFC 6455 section 4.2.1). */
export function isUpgrade(request: Request): boolean {
  const connection = request.headers.get("connection")?.toLowerCase() ?? "";
  return request.method === "GET" &&
    request.headers.get("upgrade")?.toLowerCase() === "websocket" &&
    connection.split(",").some((token) => token.trim() === "upgrade") &&
    /^[A-Za-z0-9+/]{22}==$/.test(request.headers.get("sec-websocket-key") ?? "") &&
    request.headers.get("sec-websocket-version") === "13";
}
