import type { JsonSchema } from "../schema/json-schema.ts";

/**
 * Converts params that came as text to the types of the schema: other types are parsed as JSON, and a list may have
 * commas or a repeated name. It does not validate.
 */
export function readTextParams(
  { properties = {} }: JsonSchema,
  given: Iterable<readonly [string, string]>,
): Record<string, unknown> {
  const texts = Map.groupBy(given, ([name]) => name);
  return Object.fromEntries(
    [...texts].map(([name, pairs]) => {
      const schema = Object.hasOwn(properties as object, name)
        ? (properties as Readonly<Record<string, { readonly type?: unknown }>>)[name]
        : undefined;
      const values = pairs.map(([, text]) => text);
      return [name, schema?.type === "array" ? readList(values) : readOne(values.at(-1) ?? "", schema)];
    }),
  );
}

function readOne(text: string, schema: { readonly type?: unknown } | undefined): unknown {
  return schema?.type === undefined || schema.type === "string" ? text : readJson(text);
}

function readList(texts: readonly string[]): unknown {
  const [only = ""] = texts;
  const json = texts.length === 1 && only.startsWith("[") ? readJson(only) : undefined;
  if (Array.isArray(json)) return json;
  return texts.flatMap((text) => text.split(",").map((part) => part.trim())).filter((part) => part !== "");
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
