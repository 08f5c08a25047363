/** The client of the command line: every call carries the credential, and an ended session is renewed once. */
import { type BridgeApi, bridgeApi } from "../../shared/api/bridge_api.ts";
import {
  type Arguments,
  Client,
  type ClientOptions,
  type OpenOptions,
} from "../../shared/http/client.ts";
import { bearer, type Credentials } from "./credentials.ts";

/** `call` goes through `open` as well, so that this is the one place for all commands and streams. */
export class SessionClient extends Client<BridgeApi> {
  constructor(options: ClientOptions<BridgeApi>, private readonly credentials: Credentials) {
    super(options);
  }

  /**
   * As `Client.open`. After a 401 to a stored session the call is made again with a new one, if there is
   * one: an unauthorised call has done nothing, so that any method can be repeated.
   */
  override async open<Name extends keyof BridgeApi & string>(
    name: Name,
    args: Arguments<BridgeApi[Name]>,
    options: OpenOptions = {},
  ): Promise<Response> {
    // The open routes ask for nothing; `logout` brings the token that it ends.
    if (bridgeApi[name].audience === "none") return await super.open(name, args, options);
    const used = await this.credentials.current();
    const signed = (headers: Readonly<Record<string, string>>) => ({
      ...options,
      headers: { ...headers, ...options.headers },
    });
    const response = await super.open(name, args, signed(bearer(used)));
    // Without a challenge it is not about who asks: a forge, or a ship, refused the bridge.
    if (response.status !== 401 || !response.headers.has("www-authenticate")) return response;
    const fresh = await this.credentials.renew(used).catch(async (thrown: unknown) => {
      await response.body?.cancel();
      throw thrown;
    });
    if (fresh === null) return response;
    await response.body?.cancel();
    return await super.open(name, args, signed(bearer(fresh)));
  }
}
