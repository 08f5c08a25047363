/** `grid version` and `grid completion`: what grid says of itself. */
import { version } from "../../../shared/version.ts";
import type { ValuesOf } from "../arguments.ts";
import { commandTable } from "../command_table.ts";
import { completionScript, type Shell } from "../completion.ts";
import { type Context, print } from "../context.ts";

export function showVersion(_: unknown, context: Context): void {
  print(context, { version }, `grid ${version}\n`);
}

export function showCompletion(
  { shell }: ValuesOf<(typeof commandTable)["completion"]>,
  context: Context,
): void {
  // The parser lets only the table's values through.
  const script = completionScript(commandTable, shell as Shell);
  print(context, { shell, script }, script);
}
