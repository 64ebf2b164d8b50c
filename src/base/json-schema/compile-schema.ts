import type { ErrorObject, Format } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fastFormats, fullFormats } from "ajv-formats/dist/formats.js";
import { isProblem, problem } from "../problems/problem.ts";
import type { Json } from "../util/json.ts";
import { isPlainObject } from "../util/plain-object.ts";
import { reasonOf } from "../util/reason-of.ts";
import { readSchema } from "./check-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { findRepeated } from "./keyword-message.ts";
import { type PatternWarning, prepareSchema, WEIGHT } from "./prepare-schema.ts";
import { createRegexEngine, Meter, type RegexEngine } from "./regex-engine.ts";
import type { SchemaNode } from "./schema-graph.ts";
import { type KeywordHolds, SCHEMA_KEYWORDS } from "./schema-keywords.ts";

/** The result of a check of params. */
export type CheckOutcome =
  | { readonly state: "valid"; readonly patternsSkipped: boolean }
  | { readonly state: "invalid"; readonly errors: readonly ErrorObject[] }
  | { readonly state: "too-costly" };

export interface CompiledSchema {
  /** Checks a value and fills in defaults, so the value must be the caller's own copy. */
  check(value: Json): CheckOutcome;
  readonly warnings: readonly PatternWarning[];
}

/**
 * Compiles a JSON Schema into a check.
 *
 * @throws `SCHEMA_REJECTED` if the schema is not usable
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const read = readSchema(schema);
  if (!read.ok) throw problem("SCHEMA_REJECTED", { reason: read.reason });
  const meter = new Meter();
  const engine = createRegexEngine(meter);
  const warnings = prepareSchema(read.nodes, engine, FORMATS);
  const validate = compileOrReject(() => {
    const reason = isPlainlyValid(read.nodes) ? undefined : checkAgainstMeta(read.schema);
    if (reason !== undefined) throw problem("SCHEMA_REJECTED", { reason });
    return createAjv(engine, meter).compile(read.schema);
  });
  return { check, warnings };

  function check(value: Json): CheckOutcome {
    meter.reset();
    try {
      if (validate(value)) return { state: "valid", patternsSkipped: meter.patternsSkipped };
      return { state: "invalid", errors: validate.errors ?? [] };
    } catch {
      return { state: "too-costly" };
    } finally {
      validate.errors = null;
    }
  }
}

function compileOrReject<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (isProblem(error)) throw error;
    throw problem("SCHEMA_REJECTED", { reason: reasonOf(error) });
  }
}

/** Creates a validator for one schema, so that tools do not share Ajv's caches by id or pattern. */
function createAjv(engine: RegexEngine, meter: Meter): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    ownProperties: true,
    inlineRefs: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: engine.ajvEngine, optimize: false },
  });
  for (const [name, format] of FORMATS) ajv.addFormat(name, format);
  ajv.addKeyword({
    keyword: WEIGHT,
    schemaType: "number",
    valid: true,
    validate: (weight: number) => {
      meter.spend(weight);
      return true;
    },
  });
  addUniqueItems(ajv, meter);
  return ajv;
}

let metaAjv: Ajv2020 | undefined;

/** Why a schema is not valid draft 2020-12. Undefined if it is. */
function checkAgainstMeta(schema: object): string | undefined {
  metaAjv ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const valid = metaAjv.validateSchema(schema);
  return valid === true ? undefined : metaAjv.errorsText(metaAjv.errors?.slice(0, 3), { dataVar: "schema" });
}

/**
 * Whether all schemas of a prepared document surely are valid in draft 2020-12, as those of nearly all tools are. The
 * whole check has to be compiled first, which takes 80 ms of a first call ("first_call_cold_ms" of `npm run bench --
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

/** Replaces Ajv's own check, which compares all pairs of items. */
function addUniqueItems(ajv: Ajv2020, meter: Meter): void {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    errors: false,
    validate: (unique: boolean, items: readonly unknown[]) => {
      if (!unique) return true;
      meter.spend(items.length);
      return findRepeated(items) === undefined;
    },
  });
}

const MAX_URL = 8192;

/**
 * Checked formats, each in linear time. URI and e-mail are checked leniently: to refuse a value that the tool would
 * accept does more harm than the reverse.
 */
export const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    ...fullFormats,
    uri: fastFormats.uri,
    "uri-reference": fastFormats["uri-reference"],
    email: fastFormats.email,
    // The library's own `url` backtracks quadratically, and its `regex` builds one from the text.
    url: (text: string) => text.length <= MAX_URL && /^(?:https?|ftp):/i.test(text) && URL.canParse(text),
    regex: true,
  } satisfies Record<string, Format>),
);
