import { isPlainObject } from "../util/plain-object.ts";
import type { SchemaNode } from "./schema-graph.ts";
import { type KeywordHolds, SCHEMA_KEYWORDS } from "./schema-keywords.ts";

/**
 * Whether all schemas of a prepared document surely are valid in draft 2020-12, as those of nearly all tools are. The
 * whole check has to be compiled first, which takes 60 ms of a first call ("first_call_cold_ms" of `npm run bench --
 * peers`).
 */
export function isPlainlyValid(nodes: readonly SchemaNode[]): boolean {
  return nodes.every(({ schema }) =>
    Object.entries(schema).every(([keyword, value]) => {
      const holds = SCHEMA_KEYWORDS.get(keyword)?.holds;
      const check = BY_KEYWORD.get(keyword) ?? (holds && BY_CONTENT[holds]);
      return check ? check(value) : !keyword.startsWith("$");
    }),
  );
}

type Check = (value: unknown) => boolean;

const TYPES: readonly unknown[] = ["array", "boolean", "integer", "null", "number", "object", "string"];
const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isType: Check = (value) => TYPES.includes(value);
const isUniqueList = (value: unknown, isItem: Check) =>
  Array.isArray(value) && value.every(isItem) && new Set(value).size === value.length;
const never: Check = () => false;

const BY_CONTENT: Readonly<Record<KeywordHolds, Check>> = {
  schema: (value) => typeof value === "boolean" || isPlainObject(value),
  schemas: (value) => Array.isArray(value) && value.length > 0,
  "named-schemas": isPlainObject,
  names: never,
  data: () => true,
  prose: isText,
  text: never,
  number: isCount,
  flag: (value) => typeof value === "boolean",
};

/** Keywords whose values differ from what such keywords hold. */
const BY_KEYWORD: ReadonlyMap<string, Check> = new Map(
  Object.entries<Check>({
    type: (value) =>
      isType(value) || (Array.isArray(value) && value.length > 0 && isUniqueList(value, isType)),
    required: (value) => isUniqueList(value, isText),
    format: isText,
    pattern: isText,
    $ref: isText,
    enum: Array.isArray,
    examples: Array.isArray,
    minimum: isNumber,
    maximum: isNumber,
    exclusiveMinimum: isNumber,
    exclusiveMaximum: isNumber,
    multipleOf: (value) => Number(value) > 0 && isNumber(value),
    dependencies: never,
  }),
);
