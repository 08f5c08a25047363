/** The way from this ship's agents to the `/repos` routes of its bridge, with the credential that was pushed. */
import { type ForgeApi, forgeApi } from "../../shared/api/forge_api.ts";
import { fail, type Failure, relayed } from "../../shared/errors.ts";
import { type Arguments, CallError, Client } from "../../shared/http/client.ts";
import type { ReplyOf } from "../../shared/api/endpoint.ts";
import { limits } from "../../shared/limits.ts";
import { redactUrl } from "../../shared/log.ts";
import type { AgentCredentials } from "../../shared/schema/agent.ts";

/** The credential is kept in memory alone: the bridge pushes another when it connects again. */
export class BridgeAccess {
  #client: Client<ForgeApi> | null = null;

  /** From now on calls go to that bridge. Throws `bridgeUrlInvalid`, `bridgeUrlNotHttp`. */
  take({ bridgeUrl, token }: AgentCredentials): void {
    const baseUrl = parseBridgeUrl(bridgeUrl);
    this.#client = new Client({
      table: forgeApi,
      baseUrl,
      headers: () => ({ authorization: `Bearer ${token}` }),
      timeoutMs: limits.shipCallMs,
      replyBytesMax: limits.shipReplyBytesMax,
    });
  }

  /**
   * Calls a route of the bridge. Throws `bridgeAccessMissing`, `bridgeUnreachable`, `bridgeAnswerInvalid`,
   * what the bridge answered (`relayed`), or the reason of `signal`.
   */
  async call<Name extends keyof ForgeApi & string>(
    name: Name,
    args: Arguments<ForgeApi[Name]>,
    signal: AbortSignal,
  ): Promise<ReplyOf<ForgeApi[Name]>> {
    if (this.#client === null) throw fail("bridgeAccessMissing");
    try {
      return await this.#client.call(name, args, { signal });
    } catch (thrown) {
      throw thrown instanceof CallError ? meaningOf(thrown) : thrown;
    }
  }
}

function meaningOf({ kind, status, message, reason }: CallError): Failure {
  switch (kind) {
    case "transport":
      return fail("bridgeUnreachable", { message });
    case "invalid":
      return fail("bridgeAnswerInvalid", { what: message });
    case "status":
      return relayed(status, message, reason);
  }
}

/** Origin or base of a bridge, without a trailing slash. */
function parseBridgeUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw fail("bridgeUrlInvalid", { url: redactUrl(text) });
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw fail("bridgeUrlNotHttp", { url: redactUrl(text) });
  }
  const unfit = url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "";
  if (unfit) throw fail("bridgeUrlInvalid", { url: redactUrl(text) });
  return url.href.replace(/\/+$/, "");
}
