/**
 * What an endpoint table says of each route. Server routes, the typed client, the API document and the
 * permission tests are all derived from the two tables (`ship_api.ts`, `bridge_api.ts`).
 */
import type { z } from "zod";
import type { IdentifierKind, RepoName, ShipName, WorkspaceName } from "../ids.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** What a path parameter holds; `number` is a positive integer, `text` any decoded segment. */
export type ParameterKind = IdentifierKind | "number" | "text";

/**
 * Who may call a route.
 * - `none`: anybody, without a credential (bridge)
 * - `user`, `admin`: a user session, an admin's (bridge)
 * - `self`: the user that the path's `username` names, or an admin (bridge)
 * - `armory`: a user or a ship (bridge)
 * - `repos`: a user or a ship's agent (bridge)
 * - `ticket`: a WebSocket ticket of a user (bridge)
 * - `bridge`: the ship's bridge (ship)
 * - `agent`: the bridge, or the agent of the workspace that the path names (ship)
 */
export type Audience =
  | "none"
  | "user"
  | "admin"
  | "self"
  | "armory"
  | "repos"
  | "ticket"
  | "bridge"
  | "agent";

/** What a route answers when it succeeds. */
export type Reply =
  | { readonly kind: "json"; readonly status: 200 | 201; readonly schema: z.ZodType }
  | { readonly kind: "text"; readonly status: 200 }
  | { readonly kind: "socket"; readonly frames: z.ZodType }
  /** The handler owns the whole HTTP exchange (MCP). */
  | { readonly kind: "raw" };

export interface Endpoint {
  readonly method: Method;
  /** Segments that start with `:` are parameters, each named in `params`. */
  readonly path: string;
  readonly audience: Audience;
  readonly summary: string;
  readonly params?: Readonly<Record<string, ParameterKind>>;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly reply: Reply;
}

export type EndpointTable = Readonly<Record<string, Endpoint>>;

interface ParameterTypes {
  repo: RepoName;
  workspace: WorkspaceName;
  ship: ShipName;
  number: number;
  text: string;
}

export type ParamsOf<E extends Endpoint> = E["params"] extends Readonly<
  Record<string, ParameterKind>
> ? { readonly [K in keyof E["params"]]: ParameterTypes[E["params"][K]] }
  : Record<never, never>;
export type QueryOf<E extends Endpoint> = E["query"] extends z.ZodType ? z.output<E["query"]>
  : Record<never, never>;
export type BodyOf<E extends Endpoint> = E["body"] extends z.ZodType ? z.output<E["body"]>
  : undefined;
/** What the handler gives, before the schema's output types: brands are the handler's to hold. */
export type ReplyOf<E extends Endpoint> = E["reply"] extends { kind: "json"; schema: infer S }
  ? S extends z.ZodType ? z.output<S> : never
  : E["reply"] extends { kind: "text" } ? string
  : Response;

/** Checks a table against `Endpoint` while keeping its literal types. */
export function endpoints<const Table extends EndpointTable>(table: Table): Table {
  return table;
}

/** The reply of a route that answers JSON. */
export function json<const Status extends 200 | 201, Schema extends z.ZodType>(
  status: Status,
  schema: Schema,
): { readonly kind: "json"; readonly status: Status; readonly schema: Schema } {
  return { kind: "json", status, schema };
}
