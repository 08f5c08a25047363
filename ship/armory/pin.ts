/** The one bridge that a ship takes its armory from. */
import { join } from "node:path";
import { z } from "zod";
import { isAddress, isLinkLocal } from "../../shared/address_policy.ts";
import { fail } from "../../shared/errors.ts";
import { JsonFile } from "../../shared/host/json_file.ts";
import type { Resolve } from "../../shared/host/resolve.ts";
import type { Log } from "../../shared/log.ts";

export interface PinOptions {
  /** The origin of `--bridge-url`; null: whoever pushes first. */
  readonly bridgeUrl: string | null;
  /** Whether callers of this ship prove who they are. */
  readonly authenticated: boolean;
  readonly resolve: Resolve;
  readonly log: Log;
}

export class Pin {
  #origin: string | null;
  #claim: Promise<void> | null = null;
  #file: JsonFile<z.ZodString> | null = null;

  constructor(private readonly options: PinOptions) {
    this.#origin = options.bridgeUrl;
  }

  /** Reads what an earlier run was pinned to, below `directory`. Throws `StoredFileError`. */
  async load(directory: string): Promise<void> {
    const path = join(directory, "armory-bridge.json");
    this.#file = new JsonFile({ path, version: 1, key: "bridge", schema: z.string() });
    if (this.options.bridgeUrl === null) this.#origin = await this.#file.read();
  }

  /**
   * Lets pushes of the ship's own bridge pass; the first one ever makes its bridge that. Throws `armoryPinned`,
   * `bridgeUrlRefused`, `storageFailed` (then nothing is pinned).
   */
  async admit(bridgeUrl: string): Promise<void> {
    const { origin } = new URL(bridgeUrl);
    // One push decides; those that come meanwhile are judged by what it decided.
    while (this.#claim !== null) await this.#claim.catch(() => {});
    if (this.#origin === null) {
      const claim = this.#pinTo(origin).finally(() => this.#claim = null);
      this.#claim = claim;
      await claim;
    }
    const expected = this.#origin;
    if (expected !== null && origin !== expected) {
      throw fail("armoryPinned", { expected, offered: origin });
    }
  }

  async #pinTo(origin: string): Promise<void> {
    const { log, authenticated, resolve } = this.options;
    const { hostname } = new URL(origin);
    const addresses = isAddress(hostname) ? [hostname] : await resolve(hostname);
    if (addresses.some(isLinkLocal)) {
      throw fail("bridgeUrlRefused", {
        why: "link-local addresses are not allowed; start the ship with --bridge-url if its " +
          "bridge really is there",
      });
    }
    await this.#file?.write(origin);
    this.#origin = origin;
    const advice = "start the ship with --bridge-url to decide it yourself";
    if (authenticated) log.info(`pinned to the bridge that pushed first: ${advice}`, { origin });
    else {
      log.warn(
        "PINNED BY A STRANGER: GRID_BRIDGE_TOKEN is not set, so anybody who reaches this ship may " +
          `have pushed first, and what that bridge serves is installed here: set it, or ${advice}`,
        { origin },
      );
    }
  }
}
