/** JSON that a daemon keeps: versioned, checked when read, replaced as a whole when written. */
import type { z } from "zod";
import { readIfPresent, writeAtomically } from "./files.ts";

/** A kept file that cannot be understood. It stops the start, and the file stays as it is. */
export class StoredFileError extends Error {
  override readonly name = "StoredFileError";
  constructor(readonly path: string, place: string, why: string) {
    super(
      `cannot read ${path}: ${place}: ${why}. ` +
        `The file was left as it is: repair it or move it away, then start again.`,
    );
  }
}

export interface JsonFileOptions<Schema extends z.ZodType> {
  readonly path: string;
  /** The only version that is understood; it stands in the file as `version`. */
  readonly version: number;
  /** The key beside `version` that holds the value. */
  readonly key: string;
  readonly schema: Schema;
}

/** One file, `{version, <key>: value}`. It has one writer at a time, which its owner sees to. */
export class JsonFile<Schema extends z.ZodType> {
  constructor(private readonly options: JsonFileOptions<Schema>) {}

  /** The value, or null when there is no file. Throws `StoredFileError`. */
  async read(): Promise<z.output<Schema> | null> {
    const { path, version, key, schema } = this.options;
    const text = await readIfPresent(path);
    if (text === null) return null;
    const whole = this.#parse(text);
    if (whole.version !== version) {
      throw new StoredFileError(path, "version", `is not ${version}, the one understood here`);
    }
    const parsed = schema.safeParse(whole[key]);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw new StoredFileError(
      path,
      [key, ...(issue?.path ?? [])].join("."),
      issue?.message ?? "is invalid",
    );
  }

  /** Replaces the file. Throws `storageFailed`; then the old contents stand. */
  async write(value: z.output<Schema>): Promise<void> {
    const { path, version, key } = this.options;
    await writeAtomically(path, `${JSON.stringify({ version, [key]: value }, null, 2)}\n`);
  }

  #parse(text: string): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // The parser's own message quotes the text around the fault, which may hold a secret.
      throw new StoredFileError(this.options.path, faultPlace(text), "is not JSON");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new StoredFileError(this.options.path, "line 1", "must be a JSON object");
    }
    return value as Record<string, unknown>;
  }
}

/** Where `text` stops being JSON: the end of its longest prefix that some text could still complete. */
export function faultPlace(text: string): string {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (canGoOn(text.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const before = text.slice(0, low).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** V8 says of an unfinished text that it ended, or names a position at its end. */
function canGoOn(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return true;
  } catch (thrown) {
    const message = (thrown as Error).message;
    if (message.startsWith("Unexpected end")) return true;
    const position = /at position (\d+)/.exec(message)?.[1];
    return position !== undefined && Number(position) >= prefix.length;
  }
}
