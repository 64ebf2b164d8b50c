import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { field, fieldsOf } from "../../base/util/plain-object.ts";
import type { Entry } from "../nouns/entry.ts";
import { parseJsonText } from "../nouns/input-fields.ts";

export interface Addressed {
  readonly entry: Entry;
  /** Params from the query string of the address. */
  readonly params?: Record<string, unknown>;
}

/** Finds the entry of an address: the whole address, or the part before its query string, which gives params. */
export function resolveAddress(
  address: string,
  find: (address: string) => Entry | undefined,
): Addressed | undefined {
  const whole = find(address);
  if (whole) return { entry: whole };
  const mark = address.indexOf("?");
  const entry = mark < 0 ? undefined : find(address.slice(0, mark));
  if (!entry) return undefined;
  const given = new URLSearchParams(address.slice(mark + 1));
  return { entry, params: readTextParams(entry.inputSchema, given) };
}

/**
 * Converts params that came as text to the types of the schema: other types are parsed as JSON, and a list may have
 * commas or a repeated name. It does not validate.
 */
export function readTextParams(
  { properties = {} }: JsonSchema,
  given: Iterable<readonly [string, string]>,
): Record<string, unknown> {
  const params = [...Map.groupBy(given, ([name]) => name)].map(([name, pairs]) => {
    const { type = "string" } = fieldsOf(field(properties, name));
    const texts = pairs.map(([, text]) => text);
    if (type === "array") return [name, readList(texts)];
    return [name, type === "string" ? texts.at(-1) : parseJsonText(texts.at(-1) ?? "")];
  });
  return Object.fromEntries(params);
}

function readList(texts: readonly string[]): unknown {
  const [only = ""] = texts;
  const json = texts.length === 1 && only.startsWith("[") ? parseJsonText(only) : undefined;
  if (Array.isArray(json)) return json;
  return texts.flatMap((text) => text.split(",").map((part) => part.trim())).filter((part) => part !== "");
}
