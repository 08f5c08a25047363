/** GitHub's published description of its REST API: judges requests and responses, and makes samples of objects. */
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

// deno-lint-ignore no-explicit-any -- a JSON document whose shape is its own subject
type Json = any;

interface Operation {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly operation: Json;
}

let loaded: OpenApi | null = null;

/** The description, read once per process. */
export function openApi(): OpenApi {
  const file = new URL(
    "generated/api.github.com.json",
    import.meta.resolve("@octokit/openapi/package.json"),
  );
  return loaded ??= new OpenApi(JSON.parse(Deno.readTextFileSync(file)));
}

export class OpenApi {
  readonly #ajv = new Ajv({ strict: false, validateSchema: false, coerceTypes: false });
  readonly #document: Json;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.#document = modern(document);
    (addFormats as unknown as (ajv: Ajv) => void)(this.#ajv);
    this.#ajv.addFormat("repo.nwo", true);
    this.#ajv.addSchema(this.#document, "gh");
  }

  /** The operation that a request is for, or null. */
  find(method: string, pathname: string): Operation | null {
    const segments = pathname.split("/");
    const found = Object.entries<Json>(this.#document.paths).flatMap(([path, item]) => {
      const parameters = match(path, segments);
      const operation = item[method.toLowerCase()];
      return parameters === null || operation === undefined
        ? []
        : [{ path, parameters, operation }];
    });
    // The path with most segments of its own wins, then the one with most literal ones.
    const rank = ({ path, parameters }: Operation) =>
      path.split("/").length * 10 - Object.keys(parameters).length;
    return found.sort((a, b) => rank(b) - rank(a))[0] ?? null;
  }

  /** What is wrong with a request. */
  requestFaults({ path, operation }: Operation, query: URLSearchParams, body: unknown): string[] {
    const known = new Map<string, Json>(
      (operation.parameters ?? []).map((one: Json) => this.#resolve(one))
        .filter((one: Json) => one.in === "query").map((one: Json) => [one.name, one.schema]),
    );
    const faults = [...query].flatMap(([name, text]) => {
      const schema = known.get(name);
      if (schema === undefined) return [`${path}: no query parameter ${name}`];
      const value = this.#resolve(schema).type === "integer" ? Number(text) : text;
      return this.#faults(`${path} query ${name}`, schema, value);
    });
    const schema = operation.requestBody?.content?.["application/json"]?.schema;
    if (schema === undefined) {
      return body === undefined ? faults : [...faults, `${path}: takes no body`];
    }
    return [...faults, ...this.#faults(`${path} request`, schema, body)];
  }

  /** What is wrong with a response; a status that is not described is a fault. */
  responseFaults({ path, operation }: Operation, status: number, body: unknown): string[] {
    const response = operation.responses[String(status)];
    if (response === undefined) return [`${path}: ${status} is not described`];
    const schema = this.#resolve(response).content?.["application/json"]?.schema;
    return schema === undefined ? [] : this.#faults(`${path} ${status}`, schema, body);
  }

  /** An object of `schema` with every required field, `given` laid over it. */
  sample(schema: string, given: Readonly<Record<string, unknown>>): Json {
    const name = { $ref: `gh#/components/schemas/${schema}` };
    return { ...this.#sample(name, 0), ...given };
  }

  #sample(given: Json, depth: number): Json {
    const schema = this.#resolve(given);
    if (schema.enum !== undefined) return schema.enum[0];
    if (schema.allOf !== undefined) {
      return Object.assign({}, ...schema.allOf.map((one: Json) => this.#sample(one, depth)));
    }
    const choices: Json[] | undefined = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) {
      const none = choices.find((one) => one.type === "null");
      // What is asked for itself is wanted; what stands within it may as well be missing.
      return depth > 0 && none !== undefined
        ? null
        : this.#sample(choices.find((one) => one !== none), depth);
    }
    const types: string[] = [schema.type ?? "object"].flat();
    if (depth > 0 && types.includes("null")) return null;
    switch (types.find((one) => one !== "null")) {
      case "string":
        return textOf(schema.format);
      case "integer":
      case "number":
        return schema.minimum ?? 1;
      case "boolean":
        return false;
      case "array":
        return [];
      default:
        return Object.fromEntries(
          (schema.required ?? []).map((key: string) => [
            key,
            depth > 8 ? {} : this.#sample(schema.properties?.[key] ?? {}, depth + 1),
          ]),
        );
    }
  }

  #faults(place: string, schema: Json, value: unknown): string[] {
    const key = JSON.stringify(schema);
    const validate = this.#compiled.get(key) ?? this.#ajv.compile(schema);
    this.#compiled.set(key, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) =>
      `${place}${error.instancePath}: ${error.message} ${JSON.stringify(error.params)}`
    );
  }

  #resolve(schema: Json): Json {
    if (typeof schema.$ref !== "string") return schema;
    const parts = schema.$ref.replace("gh#/", "").split("/") as string[];
    return this.#resolve(parts.reduce((place: Json, part) => place[part], this.#document));
  }
}

const textOf = (format: string | undefined) =>
  format === "uri"
    ? "https://forge.example/"
    : format === "date-time"
    ? "2026-01-01T00:00:00Z"
    : "";

function match(path: string, segments: readonly string[]): Record<string, string> | null {
  const parts = path.split("/");
  const last = parts.at(-1) ?? "";
  // `{ref}` and `{path}` take slashes where they end a path or stand before a fixed tail.
  const greedy = parts.findIndex((part) => part === "{ref}");
  if (greedy !== -1 && segments.length > parts.length) {
    const extra = segments.length - parts.length;
    const joined = segments.slice(greedy, greedy + extra + 1).join("/");
    return match(path, [
      ...segments.slice(0, greedy),
      encodeURIComponent(joined),
      ...segments.slice(greedy + extra + 1),
    ]);
  }
  if (parts.length !== segments.length || last === "") return null;
  const parameters: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? "";
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name !== undefined) parameters[name] = decodeURIComponent(decodeURIComponent(segment));
    else if (part !== segment) return null;
  }
  return parameters;
}

/** OpenAPI 3.0's `nullable` in JSON Schema's own terms, and references by the document's name. */
function modern(value: Json): Json {
  if (Array.isArray(value)) return value.map(modern);
  if (value === null || typeof value !== "object") return value;
  const copy: Json = {};
  for (const [key, one] of Object.entries<Json>(value)) {
    if (key === "example" || key === "examples") continue;
    copy[key] = key === "$ref" && typeof one === "string" ? one.replace(/^#/, "gh#") : modern(one);
  }
  if (copy.nullable !== true) return copy;
  const { nullable: _nullable, ...rest } = copy;
  if (typeof rest.type !== "string") return { anyOf: [{ type: "null" }, rest] };
  const values = rest.enum === undefined ? {} : { enum: [...rest.enum, null] };
  return { ...rest, ...values, type: [rest.type, "null"] };
}
