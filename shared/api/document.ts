/** The API document (OpenAPI 3.1.1) of an endpoint table. */
import { z } from "zod";
import type { Endpoint, EndpointTable, ParameterKind } from "./endpoint.ts";
import { identifierBytesMax } from "../ids.ts";
import { errorBodySchema } from "../schema/common.ts";

/** Builds the document; the same table always gives the same document. */
export function apiDocument(title: string, table: EndpointTable): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, endpoint] of Object.entries(table)) {
    const path = endpoint.path.replaceAll(/:([a-z]+)/gi, "{$1}");
    (paths[path] ??= {})[endpoint.method.toLowerCase()] = operation(name, endpoint);
  }
  return {
    openapi: "3.1.1",
    info: { title, version: "1" },
    paths,
    components: {
      schemas: { Error: schemaOf(errorBodySchema) },
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function operation(name: string, endpoint: Endpoint): Record<string, unknown> {
  return {
    operationId: name,
    summary: endpoint.summary,
    "x-audience": endpoint.audience,
    security: endpoint.audience === "none" ? [] : [{ bearer: [] }],
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint)],
    ...(endpoint.body === undefined ? {} : {
      requestBody: {
        required: true,
        content: { "application/json": { schema: schemaOf(endpoint.body) } },
      },
    }),
    responses: {
      ...success(endpoint),
      default: {
        description: "A failure",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function success({ reply }: Endpoint): Record<string, unknown> {
  switch (reply.kind) {
    case "json":
      return {
        [reply.status]: {
          description: "Success",
          content: { "application/json": { schema: schemaOf(reply.schema) } },
        },
      };
    case "text":
      return { [reply.status]: { description: "Success", content: { "text/plain": {} } } };
    case "socket":
      return { 101: { description: "A WebSocket", "x-frames": schemaOf(reply.frames) } };
    case "raw":
      return { 200: { description: "As the protocol that the route speaks defines" } };
  }
}

function pathParameters({ params = {} }: Endpoint) {
  return Object.entries(params).map(([name, kind]) => ({
    name,
    in: "path",
    required: true,
    schema: parameterSchema(kind),
  }));
}

function parameterSchema(kind: ParameterKind) {
  switch (kind) {
    case "number":
      return { type: "integer", minimum: 1 };
    case "text":
      return { type: "string" };
    case "repo":
    case "workspace":
    case "ship":
      return { type: "string", minLength: 1, maxLength: identifierBytesMax };
  }
}

function queryParameters({ query }: Endpoint) {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: !(schema as z.ZodType).safeParse(undefined).success,
    schema: schemaOf(schema as z.ZodType),
  }));
}

/** What a caller writes or reads: the input side of a schema, brands and transforms left out. */
function schemaOf(schema: z.ZodType): unknown {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
  });
  return rest;
}
