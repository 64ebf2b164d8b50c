import type { z } from "zod";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { toJsonSchema } from "../../core/nouns/json-form.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";

/** Describes the endpoints as an OpenAPI document, made from the same rows as their routes. */
export function toOpenApi(endpoints: readonly Endpoint[]): object {
  return {
    openapi: "3.1.0",
    info: { title: "Keyhole", version: PROGRAM_VERSION },
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    security: [{ bearer: [] }],
    paths: Object.fromEntries(
      Object.entries(Object.groupBy(endpoints, ({ path }) => path)).map(([path, rows = []]) => [
        path,
        Object.fromEntries(rows.map((row) => [row.method.toLowerCase(), describe(row)])),
      ]),
    ),
  };
}

function describe(row: Endpoint): object {
  const schema = row.input && toSchema(row.input);
  const type = row.isStream ? "text/event-stream" : "application/json";
  return {
    operationId: `${row.method.toLowerCase()}${row.path.replaceAll("/", "_")}`,
    summary: row.title,
    ...(row.admin && { description: "Needs the scope `keyhole:admin`." }),
    ...(schema && row.method === "GET" && { parameters: toParameters(schema) }),
    ...(schema && row.method === "POST" && { requestBody: { content: { "application/json": { schema } } } }),
    responses: {
      200: {
        description: "The answer.",
        content: { [type]: { schema: row.output ? toSchema(row.output) : {} } },
      },
      401: { description: "The caller is not known." },
      ...(row.admin && { 403: { description: "The caller lacks the scope." } }),
    },
  };
}

type ObjectSchema = {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
};

function toSchema(schema: z.ZodType): ObjectSchema {
  const { $schema: _, ...fields } = toJsonSchema(schema);
  return fields as ObjectSchema;
}

function toParameters({ properties = {}, required = [] }: ObjectSchema): object[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}
