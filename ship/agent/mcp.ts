/**
 * The MCP endpoint of each workspace: stateless streamable HTTP on the protocol's own SDK. Every request
 * gets a server and transport of its own, bound to one workspace; nothing outlives the response.
 */
// The package's exports map hides its declarations from Deno behind the `.js`: hence `@ts-types`.
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/webStandardStreamableHttp"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types";
import { Failure, messageOf } from "../../shared/errors.ts";
import { type BrowserRules, checkBrowser } from "../../shared/http/browser_guard.ts";
import type { WorkspaceId } from "../../shared/ids.ts";
import { limits } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import type { Tool } from "./tools.ts";

export interface McpOptions {
  /** Reported to clients. */
  readonly version: string;
  readonly tools: readonly Tool[];
  /** Whom the daemon lets in, asked at each request: its port is known only once it listens. */
  readonly rules: () => BrowserRules;
  readonly log: Log;
}

/** Standing GET streams: they carry nothing (there are no subscriptions), so few are enough. */
const streamsMax = 64;

/** Answers MCP requests. Disposing ends the standing streams. */
export class McpEndpoint implements AsyncDisposable {
  readonly #streams = new Set<McpServer>();

  constructor(private readonly options: McpOptions) {}

  /** One request for the workspace `id`; failures come back in MCP shape. */
  async handle(id: WorkspaceId, request: Request): Promise<Response> {
    const refusal = this.#refusal(request);
    if (refusal !== null) return refusal;
    if (request.method === "GET" && this.#streams.size >= streamsMax) {
      return protocolError(503, "too many event streams at once: try again shortly");
    }
    const server = this.#server(id);
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !prefersEventStream(request.headers.get("accept") ?? ""),
      maxRequestBodySize: limits.requestBodyBytesMax,
    });
    try {
      await server.connect(transport);
      const response = await transport.handleRequest(request);
      if (isEventStream(response)) return this.#standing(server, response, request.signal);
      await server.close();
      return response;
    } catch (thrown) {
      await server.close();
      this.options.log.error("MCP request failed", { reason: messageOf(thrown) });
      return protocolError(500, "internal error");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#streams].map((server) => server.close()));
    this.#streams.clear();
  }

  /**
   * Origin and Host, against DNS rebinding: the daemon's own rules once more, in MCP shape. The SDK's
   * check reads an empty list of origins as "anything goes", which is the wrong way round.
   */
  #refusal(request: Request): Response | null {
    try {
      checkBrowser(request.headers, this.options.rules());
      return null;
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      return protocolError(thrown.status, thrown.message);
    }
  }

  #server(id: WorkspaceId): McpServer {
    const server = new McpServer({ name: "grid-agent", version: this.options.version });
    for (const tool of this.options.tools) {
      server.registerTool(
        tool.name,
        {
          title: tool.title,
          description: tool.description,
          inputSchema: tool.input,
          outputSchema: tool.output,
          annotations: { readOnlyHint: tool.readOnly },
        },
        (input: Record<string, unknown>, { signal }: { signal: AbortSignal }) =>
          this.#call(tool, id, { input, signal }),
      );
    }
    return server;
  }

  async #call(
    tool: Tool,
    id: WorkspaceId,
    { input, signal }: { input: Record<string, unknown>; signal: AbortSignal },
  ): Promise<CallToolResult> {
    try {
      const result = await tool.run(id, input, signal);
      return { content: [text(JSON.stringify(result))], structuredContent: result };
    } catch (thrown) {
      if (!(thrown instanceof Failure)) {
        this.options.log.error("tool failed", { tool: tool.name, reason: messageOf(thrown) });
      }
      return { content: [text(messageOf(thrown))], isError: true };
    }
  }

  /** Ties the server's life to its response: it ends with the stream, the client or the endpoint. */
  #standing(server: McpServer, response: Response, signal: AbortSignal): Response {
    this.#streams.add(server);
    const end = () => {
      signal.removeEventListener("abort", end);
      this.#streams.delete(server);
      server.close().catch(() => {});
    };
    signal.addEventListener("abort", end, { once: true });
    const reader = response.body?.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await (reader?.read() ?? { done: true, value: undefined });
        if (!done) return controller.enqueue(value);
        controller.close();
        end();
      },
      async cancel(reason) {
        await reader?.cancel(reason);
        end();
      },
    }, { highWaterMark: 0 });
    return new Response(body, { status: response.status, headers: response.headers });
  }
}

const text = (body: string) => ({ type: "text" as const, text: body });

const isEventStream = (response: Response) =>
  response.headers.get("content-type")?.startsWith("text/event-stream") === true;

/** A POST is answered in the form its client names first; the protocol makes it name both. */
function prefersEventStream(accept: string): boolean {
  const stream = accept.indexOf("text/event-stream");
  const json = accept.indexOf("application/json");
  return stream !== -1 && (json === -1 || stream < json);
}

/** A failure before any message was read: a JSON-RPC error without an id. */
function protocolError(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, { status });
}
