import { describe, expect, test } from "vitest";
import { fieldsOf, type PlainObject } from "../../base/util/plain-object.ts";
import { readInput } from "./read-input.ts";
import { assignOps } from "./to-draft.ts";

function read(operation: PlainObject, more: PlainObject = {}, path = "/x", pathItem: PlainObject = {}) {
  return readInput({ openapi: "3.0.3", ...more }, { path, pathItem, operation }, () => false);
}

function jsonBody(schema: unknown, required = true): PlainObject {
  return { requestBody: { required, content: { "application/json": { schema } } } };
}

function propertiesOf(input: { readonly inputSchema: PlainObject }): PlainObject {
  return fieldsOf(input.inputSchema.properties);
}

describe("arguments", () => {
  test("parameters and body make one set, and clashing names add their place", () => {
    const input = read(
      {
        parameters: [
          { name: "id", in: "query", schema: { type: "integer" } },
          { name: "id", in: "header", schema: { type: "string" } },
          { name: "Authorization", in: "header" },
          { name: "Host", in: "header" },
        ],
        ...jsonBody({
          type: "object",
          properties: { id: {}, id_body: {}, name: {} },
          required: ["id", "name"],
        }),
      },
      {},
      "/x/{id}/{undeclared}",
      { parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }] },
    );
    expect(Object.keys(propertiesOf(input))).toEqual([
      ...["id", "undeclared", "id_query", "id_header", "id_body", "id_body_body", "name"],
    ]);
    expect(input.inputSchema.required).toEqual(["id", "undeclared", "id_body", "name"]);
    expect(input.inputSchema.additionalProperties).toBe(false);
  });

  test("parameters of the operation replace those of the path", () => {
    const input = read({ parameters: [{ name: "a", in: "query", schema: { type: "integer" } }] }, {}, "/x", {
      parameters: [{ name: "a", in: "query", required: true, schema: { type: "string" } }],
    });
    expect(propertiesOf(input)).toEqual({ a: { type: "integer" } });
    expect(input.inputSchema.required).toBeUndefined();
  });

  test("a body that is composed or a list stays whole", () => {
    const anyOf = [{ required: ["a"] }, { required: ["b"] }];
    const composed = read(jsonBody({ type: "object", properties: { a: {}, b: {} }, anyOf }));
    expect(Object.keys(propertiesOf(composed))).toEqual(["body"]);
    const list = read(jsonBody({ type: "array", items: { type: "string" } }, false));
    expect(list.inputSchema).toMatchObject({ properties: { body: { type: "array" } } });
    expect(list.inputSchema.required).toBeUndefined();
  });

  test("an optional body is given whole or not at all", () => {
    const input = read(jsonBody({ properties: { a: {}, b: {} }, required: ["a"] }, false));
    expect(input.inputSchema).toMatchObject({ dependentRequired: { b: ["a"] } });
  });

  test("complete examples are kept", () => {
    const parameters = [{ name: "id", in: "path", example: 7 }];
    const content = {
      "application/json": { schema: { properties: { n: {} } }, examples: { one: { value: { n: 1 } } } },
    };
    expect(read({ parameters, requestBody: { content } }, {}, "/{id}").examples).toEqual([
      { args: { id: 7, n: 1 } },
    ]);
    expect(read({ requestBody: { content } }, {}, "/{id}").examples).toEqual([]);
  });

  test("names such as __proto__ are names like any other", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    );
    const input = read(jsonBody(schema));
    expect(Object.keys(propertiesOf(input))).toEqual(["__proto__", "constructor"]);
  });
});

describe("schemas", () => {
  const convert = (schema: unknown, version = "3.0.3") =>
    propertiesOf(read({ parameters: [{ name: "v", in: "query", schema }] }, { openapi: version })).v;

  test.each([
    ["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }],
    [
      "nullable enum",
      { enum: ["a"], type: "string", nullable: true },
      { enum: ["a", null], type: ["string", "null"] },
    ],
    [
      "nullable composition",
      { nullable: true, description: "d", oneOf: [{ type: "integer" }] },
      { description: "d", anyOf: [{ oneOf: [{ type: "integer" }] }, { type: "null" }] },
    ],
    ["exclusive flags", { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ["flags that are off", { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
    ["example", { type: "string", example: "x" }, { type: "string", examples: ["x"] }],
    ["binary", { type: "string", format: "binary" }, { type: "string", contentEncoding: "base64" }],
    [
      "what answers alone have",
      { properties: { id: { readOnly: true }, name: {} }, required: ["id", "name"] },
      { properties: { name: {} }, required: ["name"] },
    ],
    ["extensions", { type: "string", "x-note": 1, discriminator: {}, xml: {} }, { type: "string" }],
    ["what is no schema", { type: "any", minimum: "1", items: 3, properties: [] }, {}],
  ])("%s", (_, schema, expected) => {
    expect(convert(schema)).toEqual(expected);
  });

  test("keywords of 3.1 are kept", () => {
    const schema = { type: ["string", "null"], const: "a", examples: ["a"], exclusiveMinimum: 1 };
    expect(convert(schema, "3.1.0")).toEqual(schema);
  });

  test("shared and circular schemas become definitions, if they are reached", () => {
    const components = {
      schemas: {
        Node: { type: "object", properties: { next: { $ref: "#/components/schemas/Node" } } },
        Other: { type: "string" },
      },
    };
    const { inputSchema } = read(jsonBody({ type: "array", items: { $ref: "#/components/schemas/Node" } }), {
      components,
    });
    expect(inputSchema.$defs).toEqual({
      Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } },
    });
  });

  test.each([
    ["https://evil.example/schema.json", /leads outside the document/],
    ["file:///etc/passwd", /leads outside the document/],
    ["other.yaml#/Pet", /leads outside the document/],
    ["#/components/schemas/Missing", /leads nowhere/],
  ])("the reference %s is refused", (reference, reason) => {
    expect.assertions(1);
    try {
      read(jsonBody({ type: "array", items: { $ref: reference } }));
    } catch (error) {
      expect(String((error as { reason?: string }).reason)).toMatch(reason);
    }
  });

  test("a body that is too large loses its deepest parts, and the tool stays", () => {
    const wide = (depth: number): unknown =>
      depth === 0
        ? { type: "string" }
        : {
            type: "object",
            properties: Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}`, wide(depth - 1)])),
          };
    const input = read(jsonBody(wide(4)));
    expect(input.notes).toHaveLength(1);
    expect(input.notes).toHaveLength(1);
    expect(Object.keys(propertiesOf(input))).toHaveLength(12);
    expect(propertiesOf(input).p0).toMatchObject({ type: "object", properties: { p0: { type: "object" } } });
    expect(JSON.stringify(input.inputSchema).length).toBeLessThan(256 * 1024);
  });
});

describe("ops", () => {
  const op = (operationId: string | undefined, tags: string[] = [], path = "/x", method = "GET") =>
    assignOps("api", [{ method, path, tags, ...(operationId && { operationId }) }])[0]?.op;

  test.each([
    ["issues/create", ["issues"], "api.issues.create"],
    ["createIssue", ["Issues"], "api.issues.create"],
    ["findPetsByStatus", ["pet"], "api.pet.find_by_status"],
    ["pet", ["pet"], "api.pet.pet"],
    ["listPets", [], "api.pet.list"],
    ["api.users.list", [], "api.users.list"],
    ["__proto__", [], "api.proto"],
  ])("%s of %j is %s", (operationId, tags, expected) => {
    expect(op(operationId, tags)).toBe(expected);
  });

  test("an operation without operationId is named by method and path", () => {
    expect(op(undefined, [], "/users/{id}/posts", "GET")).toBe("api.users.posts.get");
    expect(op(undefined, [], "/users/{userId}", "DELETE")).toBe("api.users.delete_by_user_id");
    expect(op("💥", [], "/", "POST")).toBe("api.post");
  });

  test("equal names are numbered by path, in any order of the operations", () => {
    const operations = ["/b", "/a", "/c"].map((path) => ({
      method: "GET",
      path,
      operationId: "get",
      tags: [],
    }));
    const opsOf = (list: typeof operations) => assignOps("api", list).map(({ op: assigned }) => assigned);
    expect(opsOf(operations)).toEqual(["api.get_2", "api.get", "api.get_3"]);
    expect(opsOf(operations.toReversed())).toEqual(["api.get_3", "api.get", "api.get_2"]);
  });
});
