/** The providers that this bridge has, by name. */
import { fail } from "../../shared/errors.ts";
import type { Repo } from "../../shared/schema/repo.ts";
import type { ForgeRepo, Provider } from "./provider.ts";

export class Providers {
  constructor(private readonly providers: readonly Provider[]) {}

  /** Whether the repo's provider is one of these. */
  has(repo: Repo): boolean {
    return this.#find(repo) !== undefined;
  }

  /**
   * The repo on its forge; `what` is wanted of it. Throws `providerUnsupported`, and what `Provider.open`
   * throws.
   */
  open(repo: Repo, what: string): ForgeRepo {
    const provider = this.#find(repo);
    if (provider === undefined) {
      throw fail("providerUnsupported", { provider: repo.provider, what });
    }
    return provider.open(repo);
  }

  #find(repo: Repo): Provider | undefined {
    return this.providers.find(({ name }) => name === repo.provider);
  }
}
