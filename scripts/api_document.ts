/** Writes `docs/api/{ship,bridge}.json` from the endpoint tables; a test compares them with the tables. */
import { bridgeApi } from "../shared/api/bridge_api.ts";
import { apiDocument } from "../shared/api/document.ts";
import { shipApi } from "../shared/api/ship_api.ts";

/** The documents by file name, as they are written. */
export function documents(): Record<string, string> {
  const text = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`;
  return {
    "ship.json": text(apiDocument("Workspace Grid ship", shipApi)),
    "bridge.json": text(apiDocument("Workspace Grid bridge", bridgeApi)),
  };
}

if (import.meta.main) {
  const directory = new URL("../docs/api/", import.meta.url);
  await Deno.mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(documents())) {
    await Deno.writeTextFile(new URL(name, directory), text);
  }
}
