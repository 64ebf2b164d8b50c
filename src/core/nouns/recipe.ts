import { z } from "zod";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import type { ScriptBounds } from "./entry.ts";

/** Domain of all recipes. */
export const RECIPES = "recipes";

/** A script that was saved as a tool. */
export interface Recipe extends ScriptBounds {
  readonly name: string;
  readonly description: string;
  readonly params: RecipeParams;
  /** Scopes of all entries that it called. */
  readonly scopes: readonly string[];
  readonly code: string;
}

const TYPES = ["string", "number", "integer", "boolean", "array", "object"] as const;
const typeName = z
  .string()
  .refine(
    (name) => TYPES.some((type) => name.replace(/\?$/, "") === type),
    `must be one of ${TYPES.join(", ")}`,
  );

export const recipeName = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/, "must be lower-case words joined by hyphens or underscores");

export const recipeDescription = z.string().trim().min(1).max(1_024);

/** The params by name: a type (`"number"`, `"number?"` if optional), or a JSON Schema with an optional `required`. */
export const recipeParams = z.record(
  z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "must be letters, digits and underscores"),
  z.union([typeName, z.record(z.string(), z.unknown())]),
);
export type RecipeParams = z.output<typeof recipeParams>;

export function toParamsSchema(params: RecipeParams): JsonSchema {
  const entries = Object.entries(params).map(([name, given]) => {
    if (typeof given === "string")
      return { name, schema: { type: given.replace(/\?$/, "") }, required: !given.endsWith("?") };
    const { required, ...schema } = given;
    const isOptional = required === false || Object.hasOwn(schema, "default");
    // In the schema of an object, `required` is a list.
    return { name, schema: Array.isArray(required) ? given : schema, required: !isOptional };
  });
  const required = entries.filter((entry) => entry.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Types of the params that a script ran with. Undefined if the params are not an object. */
export function paramsOf(values: unknown): RecipeParams | undefined {
  if (values === null || values === undefined) return {};
  const types = Object.entries(values).map(([name, value]) => [name, typeOf(value)]);
  return recipeParams.safeParse(Object.fromEntries(types)).data;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "object?";
  return typeof value;
}
