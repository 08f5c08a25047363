/** The typed client of an endpoint table: the bridge calls ships with it, the CLI and the GUI the bridge. */
import type {
  Endpoint,
  EndpointTable,
  ParameterKind,
  ParamsOf,
  QueryOf,
  ReplyOf,
} from "../api/endpoint.ts";
import type { z } from "zod";
import { messageOf } from "../errors.ts";
import { readText } from "./body.ts";
import { queryString } from "./target.ts";

/** What a call needs: params, query and body as the endpoint has them, left out when it has none. */
export type Arguments<E extends Endpoint> =
  & (E["params"] extends Readonly<Record<string, ParameterKind>> ? { readonly params: ParamsOf<E> }
    : { readonly params?: undefined })
  & (E["query"] extends z.ZodType ? { readonly query?: Partial<QueryOf<E>> }
    : { readonly query?: undefined })
  & (E["body"] extends z.ZodType ? { readonly body: z.input<E["body"]> }
    : { readonly body?: undefined });

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** How long the whole call may take (default: the client's). */
  readonly timeoutMs?: number;
  /** Give the reply as it came, unknown fields and all, once it has been checked. */
  readonly unchanged?: boolean;
}

export interface OpenOptions extends CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as the query string unchanged, in place of the call's `query`; without its `?`. */
  readonly rawQuery?: string;
}

export interface ClientOptions<Table extends EndpointTable> {
  readonly table: Table;
  /** Origin or base of the server, without a trailing slash. */
  readonly baseUrl: string;
  /** Headers of every call, read anew each time: a token may change. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly replyBytesMax: number;
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Why a call gave no reply: `transport` (nobody answered, or not in time), `status` (an error came
 * back), `invalid` (an answer came that is not what the route promises).
 */
export class CallError extends Error {
  override readonly name = "CallError";
  constructor(
    readonly kind: "transport" | "status" | "invalid",
    message: string,
    /** HTTP status, 0 when there was none. */
    readonly status: number,
    readonly reason?: string,
    readonly retryAfterSeconds?: number,
    /** Of a `status` error: the body as JSON, null when it is none. */
    readonly body: unknown = null,
  ) {
    super(message);
  }
}

export class Client<Table extends EndpointTable> {
  constructor(private readonly options: ClientOptions<Table>) {}

  get baseUrl(): string {
    return this.options.baseUrl;
  }

  /** Calls a route and gives its parsed reply. Throws `CallError`. */
  async call<Name extends keyof Table & string>(
    name: Name,
    args: Arguments<Table[Name]>,
    options: OpenOptions = {},
  ): Promise<ReplyOf<Table[Name]>> {
    const endpoint = this.options.table[name] as Endpoint;
    const response = await this.open(name, args, options);
    const text = await this.read(response, options.signal);
    if (endpoint.reply.kind !== "json") return text as ReplyOf<Table[Name]>;
    const value = parseJson(text);
    const parsed = endpoint.reply.schema.safeParse(value);
    if (!parsed.success) {
      throw new CallError("invalid", `an answer that does not fit ${name}`, response.status);
    }
    return (options.unchanged ? value : parsed.data) as ReplyOf<Table[Name]>;
  }

  /** Calls a route and gives the response as it is, its body unread; for streams. */
  async open<Name extends keyof Table & string>(
    name: Name,
    args: Arguments<Table[Name]>,
    options: OpenOptions = {},
  ): Promise<Response> {
    const endpoint = this.options.table[name] as Endpoint;
    const given = args as {
      params?: Record<string, unknown>;
      query?: Record<string, unknown>;
      body?: unknown;
    };
    const url = this.options.baseUrl + fillPath(endpoint.path, given.params ?? {}) +
      (options.rawQuery === undefined
        ? queryString(given.query ?? {})
        : options.rawQuery === ""
        ? ""
        : `?${options.rawQuery}`);
    const headers: Record<string, string> = { ...this.options.headers?.(), ...options.headers };
    if (given.body !== undefined) headers["content-type"] = "application/json";
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.options.timeoutMs);
    const signal = options.signal === undefined
      ? timeout
      : AbortSignal.any([timeout, options.signal]);
    try {
      return await (this.options.fetch ?? fetch)(url, {
        method: endpoint.method,
        headers,
        body: given.body === undefined ? null : JSON.stringify(given.body),
        // A ship that redirects could point the bridge's token anywhere.
        redirect: "manual",
        signal,
      });
    } catch (thrown) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw new CallError("transport", transportMessage(thrown, timeout), 0);
    }
  }

  /**
   * The text of an opened response. Throws `CallError`: of kind `status` when the response is an error,
   * or the reason of `signal` (the one given to `open`) when it aborted.
   */
  async read(response: Response, signal?: AbortSignal): Promise<string> {
    let text: string | null;
    try {
      text = await readText(response.body, this.options.replyBytesMax);
    } catch (thrown) {
      if (signal?.aborted) throw signal.reason;
      throw new CallError("transport", transportMessage(thrown), 0);
    }
    if (text === null) {
      throw new CallError("invalid", "an answer that is too large", response.status);
    }
    if (!response.ok) throw statusError(response, text);
    return text;
  }
}

/** What went wrong on the way, without the URL: it may hold what must not be shown. */
function transportMessage(thrown: unknown, timeout?: AbortSignal): string {
  if (timeout?.aborted || (thrown instanceof DOMException && thrown.name === "TimeoutError")) {
    return "timed out";
  }
  const text = messageOf(thrown);
  const cause = /(Connection refused|Connection reset|No route to host|dns error|closed before)/i
    .exec(text)?.[1];
  if (cause !== undefined) return cause.toLowerCase();
  return text.replace(/ ?for url \([^)]*\)/, "").replace(/^error sending request:? ?/, "") ||
    "connection failed";
}

function statusError(response: Response, text: string): CallError {
  const body = parseJson(text) as { error?: unknown; reason?: unknown } | null;
  const retryAfter = Number(response.headers.get("retry-after") ?? "NaN");
  return new CallError(
    "status",
    errorText(body?.error) ?? `HTTP ${response.status}`,
    response.status,
    typeof body?.reason === "string" ? body.reason : undefined,
    Number.isFinite(retryAfter) ? retryAfter : undefined,
    body,
  );
}

/** `{error: string}`, or zod's 422 body as one line. */
function errorText(error: unknown): string | null {
  if (typeof error === "string") return error;
  const issues = (error as { issues?: unknown } | null | undefined)?.issues;
  if (!Array.isArray(issues)) return null;
  return issues.map((issue: { path?: unknown[]; message?: string }) =>
    `${issue.path?.join(".") ?? ""}: ${issue.message ?? "invalid"}`
  ).join("; ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Puts `params` into `path`, each percent-encoded so that it stays one segment. */
export function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/:([a-z]+)/gi, (_whole, name: string) => {
    const value = String(params[name]);
    // A URL parser would take a segment of dots away even when it is escaped; no identifier is one.
    return encodeURIComponent(value);
  });
}
