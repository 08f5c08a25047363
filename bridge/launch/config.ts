/** `grid.json`: what `grid up` runs. A bad file is refused with its exact place and what to write. Pure. */
import { z } from "zod";
import { messageOf } from "../../shared/errors.ts";
import { shipNameSchema } from "../../shared/schema/identifier.ts";
import { CliFailure } from "../cli/failure.ts";
import { nearest } from "../cli/nearest.ts";
import { locate, syntaxFault } from "./json_place.ts";

const port = z.int("must be a whole number").min(0, "must be 0 (any free port) to 65535")
  .max(65535, "must be 0 (any free port) to 65535");
const text = z.string("must be a text in quotes").min(1, "must not be empty");
const httpUrl = text.refine(
  (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  "must be an http or https URL",
);

const bridgeSchema = z.strictObject({
  port: port.optional(),
  hostname: text.optional(),
  publicUrl: httpUrl.optional(),
  dataDir: text.optional(),
  insecureNoAuth: z.boolean("must be true or false").optional(),
  sweepIntervalMs: z.int("must be a whole number of milliseconds").positive("must be above 0")
    .optional(),
});

const shipSchema = z.strictObject({
  name: shipNameSchema,
  port: port.optional(),
  gridDirectory: text.optional(),
  hostname: text.optional(),
  stateDir: text.optional(),
  sessionCommand: text.optional(),
});

export const gridConfigSchema = z.strictObject({
  bridge: bridgeSchema.optional(),
  ships: z.array(shipSchema, 'must be a list of ships: [{"name": "…"}]').optional(),
}).superRefine(({ ships = [] }, context) => {
  for (const key of ["name", "gridDirectory", "port", "stateDir"] as const) {
    ships.forEach((ship, index) => {
      const value = ship[key];
      if (value === undefined || value === 0) return;
      const first = ships.findIndex((other) => other[key] === value);
      if (first === index) return;
      context.addIssue({
        code: "custom",
        path: ["ships", index, key],
        message: `is the same as that of ships[${first}]: each ship needs its own`,
      });
    });
  }
});
export type GridConfig = z.output<typeof gridConfigSchema>;

const known: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(gridConfigSchema.shape),
  bridge: Object.keys(bridgeSchema.shape),
  ships: Object.keys(shipSchema.shape),
};

/** Parses the text of `file`. Throws `CliFailure` with one line per mistake: place, what, and the fix. */
export function parseGridConfig(text: string, file: string): GridConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new CliFailure(`${file}${syntaxMessage(text, messageOf(thrown))}`);
  }
  const parsed = gridConfigSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.flatMap((issue) => issueLines(text, file, issue));
  throw new CliFailure(lines.join("\n"));
}

function syntaxMessage(text: string, message: string): string {
  const fault = syntaxFault(text);
  const { line, column } = fault?.place ?? { line: 1, column: 1 };
  return `:${line}:${column}: this is not JSON: ${fault?.what ?? message}`;
}

function issueLines(text: string, file: string, issue: z.core.$ZodIssue): string[] {
  if (issue.code === "unrecognized_keys") {
    const section = String(issue.path[0] ?? "");
    return issue.keys.map((key) => {
      const names = known[section] ?? [];
      const close = nearest(key, names);
      const fix = close === null ? `there are ${names.join(", ")}` : `did you mean ${close}?`;
      return `${where(text, file, [...issue.path, key])} is not known: ${fix}`;
    });
  }
  const missing = issue.code === "invalid_type" && / received undefined$/.test(issue.message);
  const what = missing ? "is missing" : issue.message;
  return [`${where(text, file, issue.path)} ${what}`];
}

/** `grid.json:3:14: ships[0].port` */
function where(text: string, file: string, path: ReadonlyArray<PropertyKey>): string {
  const { line, column } = locate(text, path);
  const name = path.reduce<string>(
    (whole, step) =>
      typeof step === "number"
        ? `${whole}[${step}]`
        : whole === ""
        ? String(step)
        : `${whole}.${String(step)}`,
    "",
  );
  return `${file}:${line}:${column}: ${name === "" ? "the file" : name}`;
}
