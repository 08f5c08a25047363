/** The path and query of a request, read from its raw target: `new URL` would already have rewritten it. */
import { z } from "zod";
import { validationResponse } from "./answer.ts";

/** The raw, still encoded path segments: split before anything is decoded, so that `%2F` never splits. */
export function pathSegments(rawTarget: string): string[] {
  return (rawTarget.split("?", 1)[0] ?? "").slice(1).split("/");
}

/** The raw query of `rawTarget`, without its question mark; empty when there is none. */
export function rawQuery(rawTarget: string): string {
  const mark = rawTarget.indexOf("?");
  return mark === -1 ? "" : rawTarget.slice(mark + 1);
}

/** Reads the keys that `schema` names: array fields take every occurrence, others the first. */
export function readQuery(
  schema: z.ZodObject,
  rawTarget: string,
): Record<string, unknown> | Response {
  const given = new URLSearchParams(rawQuery(rawTarget));
  const values: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(schema.shape)) {
    if (!given.has(key)) continue;
    values[key] = isArray(field as z.ZodType) ? given.getAll(key) : given.get(key);
  }
  const parsed = schema.safeParse(values);
  return parsed.success ? parsed.data : validationResponse(parsed.error);
}

function isArray(field: z.ZodType): boolean {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault) {
    return isArray(field.unwrap() as z.ZodType);
  }
  return field instanceof z.ZodArray;
}

/** The query string of `values`: arrays repeat their key, undefined is left out. */
export function queryString(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
      query.append(key, String(one));
    }
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
