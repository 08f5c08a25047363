/** A client of a workspace's MCP endpoint, as an agent's harness is one: the protocol's own SDK. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

// deno-lint-ignore no-explicit-any -- results of every tool
type Result = any;

export class McpAgent implements AsyncDisposable {
  readonly client = new Client({ name: "test-agent", version: "1" });

  static async connect(url: string, token?: string): Promise<McpAgent> {
    const agent = new McpAgent();
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    await agent.client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never,
    );
    return agent;
  }

  /** The structured result. Throws the tool's own words when it failed. */
  async call(name: string, input: Record<string, unknown> = {}): Promise<Result> {
    const result: Result = await this.client.callTool({ name, arguments: input });
    if (result.isError === true) throw new Error(result.content[0].text);
    return result.structuredContent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}
