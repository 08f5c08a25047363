/** The bridge's routes about the armory. */
import type { BridgeApi } from "../../shared/api/bridge_api.ts";
import type { Handlers } from "../../shared/http/router.ts";
import type { ArmoryDistribution } from "./distribution.ts";
import type { Armory } from "./serve.ts";

export interface ArmoryRouteDeps {
  readonly armory: Armory;
  readonly distribution: ArmoryDistribution;
}

/** Handlers that ask nothing of who calls: the gate has let them through. */
export function armoryHandlers<Principal>(
  { armory, distribution }: ArmoryRouteDeps,
): Pick<Handlers<BridgeApi, Principal>, "armoryManifest" | "armoryFile" | "armoryShips"> {
  return {
    armoryManifest: () => armory.manifest(),
    armoryFile: ({ query }) => armory.file(query.path),
    armoryShips: () => distribution.states(),
  };
}
