/** `grid armory …`: what the bridge serves to the ships, and what each has installed of it. */
import { CallError } from "../../../shared/http/client.ts";
import type { ArmoryManifest, ShipArmoryState } from "../../../shared/schema/armory.ts";
import { type Context, print } from "../context.ts";
import { bytesText, type Cell, count, displayLines, facts, table } from "../output.ts";
import { statusCell } from "./ship.ts";

/** A revision as people compare it. */
const shown = (revision: string) => revision.slice(0, 12);

/** `grid armory status`: per ship, whether it has what the bridge has. */
export async function showArmory(_: unknown, context: Context): Promise<void> {
  const { client } = context;
  const [manifest, ships] = await Promise.all([
    manifestOf(context),
    client.call("armoryShips", {}),
  ]);
  const revision = typeof manifest === "string" ? null : manifest.revision;
  const error = typeof manifest === "string" ? manifest : null;
  const head: ReadonlyArray<readonly [string, Cell | string]> = typeof manifest === "string"
    ? [["armory", { text: "cannot be served: ships keep what they have", colour: "red" }]]
    : [
      ["armory", `revision ${shown(manifest.revision)}`],
      ["files", sizeText(manifest)],
    ];
  const rows = ships.map((one) => shipRow(one, revision));
  print(
    context,
    { revision, error, ships },
    facts(head, context.paint) + (error === null ? "" : displayLines(`${error}\n`)) +
      (ships.length === 0 ? "" : `\n${
        table(
          ["SHIP", "STATUS", "ARMORY", "REVISION", "FILES", "CONFLICTS", "LAST ERROR"],
          rows,
          context,
        )
      }`) +
      ships.map((one) => remarks(one, context)).join(""),
  );
}

/** `grid armory files`: what the armory holds. */
export async function listArmoryFiles(_: unknown, context: Context): Promise<void> {
  const manifest = await context.client.call("armoryManifest", {});
  print(
    context,
    manifest,
    manifest.entries.length === 0
      ? "the armory is empty: put files into armory/skills, armory/plugins and armory/dotfiles in " +
        "the bridge's data directory\n"
      : table(
        ["FILE", "SIZE", "MODE", "INSTALLED AT"],
        manifest.entries.map(({ path, section, size, mode }) => [
          path,
          bytesText(size),
          mode.toString(8),
          section === "dotfiles"
            ? manifest.dotfileMap[path.slice("dotfiles/".length)] ??
              { text: "nowhere: dotfile-map.json does not name it", colour: "yellow" }
            : section,
        ]),
        context,
      ),
  );
}

/** The manifest, or why there is none: a broken map must not hide how the ships are. */
async function manifestOf({ client }: Context): Promise<ArmoryManifest | string> {
  try {
    return await client.call("armoryManifest", {});
  } catch (thrown) {
    if (thrown instanceof CallError && thrown.kind === "status" && thrown.status === 400) {
      return thrown.message;
    }
    throw thrown;
  }
}

const sizeText = ({ entries }: ArmoryManifest) =>
  `${count(entries.length, "file")}, ${
    bytesText(entries.reduce((sum, { size }) => sum + size, 0))
  }`;

function shipRow(
  { ship, status, state }: ShipArmoryState,
  revision: string | null,
): Array<Cell | string> {
  if (state === null) return [ship, statusCell(status), { text: "unknown", colour: "dim" }];
  return [
    ship,
    statusCell(status),
    standing(state.revision, revision),
    state.revision === null ? "-" : shown(state.revision),
    String(state.fileCount),
    String(state.install?.conflicts.length ?? 0),
    state.lastError === null ? "-" : { text: state.lastError, colour: "red" },
  ];
}

function standing(has: string | null, revision: string | null): Cell {
  if (has === null) return { text: "never synced", colour: "yellow" };
  if (revision === null) return { text: "unknown", colour: "dim" };
  return has === revision
    ? { text: "current", colour: "green" }
    : { text: "behind", colour: "yellow" };
}

/** What a ship could not or would rather not have installed. */
function remarks({ ship, state }: ShipArmoryState, { paint }: Context): string {
  const { conflicts = [], warnings = [] } = state?.install ?? {};
  const lines = [
    ...conflicts.map((path) => `${path} is not the ship's: left alone`),
    ...warnings,
  ];
  if (lines.length === 0) return "";
  return `\n${paint("bold", displayLines(ship))}\n` +
    lines.map((line) => `  ${displayLines(line)}\n`).join("");
}
