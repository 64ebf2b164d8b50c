import type { ErrorObject } from "ajv";
import type { JsonSchema } from "../schema/json-schema.ts";
import { isProblem, problem } from "../schema/problem.ts";
import type { Json } from "../util/json.ts";
import { reasonOf } from "../util/reason-of.ts";
import { checkAgainstMeta, createAjv } from "./ajv-instance.ts";
import { readSchema } from "./check-schema.ts";
import { FORMATS } from "./formats.ts";
import { createMeter } from "./meter.ts";
import { type PatternWarning, prepareSchema } from "./prepare-schema.ts";
import { createRegexEngine } from "./regex-engine.ts";

/** The result of a check of params. */
export type CheckOutcome =
  | { readonly state: "valid"; readonly patternsSkipped: boolean }
  | { readonly state: "invalid"; readonly errors: readonly ErrorObject[] }
  | { readonly state: "too-costly" };

/** A schema that is ready to check params. */
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
  const meter = createMeter();
  const engine = createRegexEngine(meter);
  const warnings = prepareSchema(read.nodes, { engine, hasFormat: (name) => FORMATS.has(name) });
  const validate = compileOrReject(() => {
    const reason = checkAgainstMeta(read.schema);
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
