/** The scripted agents of `grid demo`: what they report goes over MCP, like any agent's. */
import { z } from "zod";
import { readText } from "../../shared/http/body.ts";
import { readEvents } from "../../shared/http/event_stream.ts";
import { fillPath } from "../../shared/http/client.ts";
import { limits } from "../../shared/limits.ts";
import type { AgentInit, AgentUpdate } from "../../shared/schema/agent.ts";
import { version } from "../../shared/version.ts";
import { CliFailure } from "../cli/failure.ts";

/** The revision of the protocol that it speaks (https://modelcontextprotocol.io). */
const protocolVersion = "2025-06-18";
const callMs = 10_000;

const answerSchema = z.object({
  id: z.number(),
  error: z.object({ message: z.string() }).optional(),
  result: z.object({
    isError: z.boolean().optional(),
    content: z.array(z.object({ text: z.string().optional() })).optional(),
  }).optional(),
});

export interface AgentPlace {
  readonly shipUrl: string;
  readonly repo: string;
  readonly name: string;
}

/** A connection to the MCP endpoint of one workspace. */
export class DemoAgent {
  #nextId = 1;
  #session: string | null = null;
  readonly #url: string;

  constructor(private readonly place: AgentPlace) {
    this.#url = place.shipUrl +
      fillPath("/workspaces/:repo/:name/mcp", { repo: place.repo, name: place.name });
  }

  /** Opens the MCP session and introduces the agent. Throws `CliFailure`. */
  async start(who: AgentInit): Promise<void> {
    await this.#request("initialize", {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: "grid-demo", version },
    });
    await this.#post({ method: "notifications/initialized" });
    await this.#request("tools/call", { name: "agent_init", arguments: who });
  }

  async report(update: AgentUpdate): Promise<void> {
    await this.#request("tools/call", { name: "agent_status", arguments: update });
  }

  async #request(method: string, params: unknown): Promise<void> {
    const id = this.#nextId++;
    const response = await this.#post({ id, method, params });
    const answer = await readAnswer(response, id);
    const text = answer?.result?.content?.[0]?.text;
    const wrong = answer === null
      ? `no answer (HTTP ${response.status})`
      : answer.error?.message ?? (answer.result?.isError ? text ?? "an error" : null);
    if (wrong !== null) {
      throw new CliFailure(
        `the agent in ${this.place.repo}/${this.place.name}: ${method}: ${wrong}`,
      );
    }
  }

  async #post(message: Readonly<Record<string, unknown>>): Promise<Response> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": protocolVersion,
        ...(this.#session === null ? {} : { "mcp-session-id": this.#session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      signal: AbortSignal.timeout(callMs),
    });
    this.#session = response.headers.get("mcp-session-id") ?? this.#session;
    if (!("id" in message)) await response.body?.cancel();
    return response;
  }
}

/** The answer to request `id`, from a JSON body or an event stream. */
async function readAnswer(
  response: Response,
  id: number,
): Promise<z.output<typeof answerSchema> | null> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream") && response.body !== null) {
    for await (const { data } of readEvents(response.body)) {
      const answer = parseAnswer(data);
      if (answer?.id === id) return answer;
    }
    return null;
  }
  const text = await readText(response.body, limits.requestBodyBytesMax);
  return parseAnswer(text ?? "");
}

function parseAnswer(text: string): z.output<typeof answerSchema> | null {
  try {
    return answerSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
