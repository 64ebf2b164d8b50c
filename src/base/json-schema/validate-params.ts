import type { Json } from "../util/json.ts";
import { toJson } from "../util/to-json.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import { describeValue } from "./describe-value.ts";
import type { ParseOutcome } from "./field-error.ts";
import { toFieldErrors } from "./field-errors.ts";
import type { JsonSchema } from "./json-schema.ts";

const compiled = new WeakMap<JsonSchema, CompiledSchema | Promise<CompiledSchema>>();

/**
 * Checks params with the author's own schema, or else with the JSON Schema. Never changes the caller's object: defaults
 * appear in the returned copy. Returns a promise only if it has to wait.
 */
export function validateParams(
  entry: { readonly inputSchema: JsonSchema; readonly parse?: (params: unknown) => ParseOutcome },
  params: unknown,
): ParseOutcome | Promise<ParseOutcome> {
  const sent = params === undefined ? {} : params;
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
    return refusal(`must be an object of named arguments, got ${describeValue(sent)}`);
  }
  const limit = exceededLimit(sent);
  if (limit !== undefined) return refusal(limit);
  if (entry.parse !== undefined) return entry.parse(sent);
  const copied = toJson(sent);
  if (!copied.ok) return refusal(`is not JSON: ${copied.reason}`);
  const { inputSchema } = entry;
  const schema = compileOnce(inputSchema);
  if (schema instanceof Promise) return schema.then((ready) => check(ready, inputSchema, copied.value));
  return check(schema, inputSchema, copied.value);
}

function check(schema: CompiledSchema, inputSchema: JsonSchema, params: Json): ParseOutcome {
  const outcome = schema.check(params);
  if (outcome.state === "too-costly")
    return refusal("cannot be checked against this schema: send fewer or less nested values");
  if (outcome.state === "invalid") return { ok: false, errors: toFieldErrors(outcome.errors, params) };
  const value = params as Record<string, unknown>;
  const warnings = warningsFor(schema, inputSchema, value);
  if (outcome.patternsSkipped) warnings.push("Some text is too long for its pattern to be checked.");
  return warnings.length > 0 ? { ok: true, value, warnings } : { ok: true, value };
}

/** Loads the validator on first use and compiles each schema once. */
function compileOnce(schema: JsonSchema): CompiledSchema | Promise<CompiledSchema> {
  const cached = compiled.get(schema);
  if (cached) return cached;
  const pending = import("./compile-schema.ts").then(({ compileSchema }) => {
    const result = compileSchema(schema);
    compiled.set(schema, result);
    return result;
  });
  compiled.set(schema, pending);
  return pending;
}

/** Drops warnings about arguments that were not sent. */
function warningsFor(schema: CompiledSchema, inputSchema: JsonSchema, value: object): string[] {
  if (schema.warnings.length === 0) return [];
  const properties = inputSchema.properties;
  const texts = schema.warnings
    .filter(({ field }) => {
      const [argument = ""] = field.split(/[.[]/, 1);
      const isArgument =
        typeof properties === "object" && properties !== null && Object.hasOwn(properties, argument);
      return !isArgument || Object.hasOwn(value, argument);
    })
    .map(({ text }) => text);
  return [...new Set(texts)];
}

function refusal(message: string): ParseOutcome {
  return { ok: false, errors: [{ field: "", message }] };
}

const MAX_ELEMENTS = 10_000;
const MAX_DEPTH = 64;
const TOO_MANY = `has more than ${MAX_ELEMENTS} elements in total, which is the limit`;

/** Names the limit on params that a value exceeds. Undefined if none. Also ends on cyclic values. */
function exceededLimit(root: object): string | undefined {
  const pending: { value: object; depth: number }[] = [{ value: root, depth: 1 }];
  let elements = 0;
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { value, depth } = item;
    if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels, which is the limit`;
    if (ArrayBuffer.isView(value)) continue;
    if (Array.isArray(value) && value.length > MAX_ELEMENTS) return TOO_MANY;
    for (const member of Object.values(value)) {
      elements += 1;
      if (elements > MAX_ELEMENTS) return TOO_MANY;
      if (typeof member === "object" && member !== null) pending.push({ value: member, depth: depth + 1 });
    }
  }
  return undefined;
}
