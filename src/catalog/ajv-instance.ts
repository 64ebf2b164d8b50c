import { Ajv2020 } from "ajv/dist/2020.js";
import { FORMATS } from "./formats.ts";
import type { Meter } from "./meter.ts";
import { WEIGHT } from "./prepare-schema.ts";
import type { RegexEngine } from "./regex-engine.ts";
import { findRepeated } from "./unique-items.ts";

/** Creates a validator for one schema, so that tools do not share what Ajv keeps by id or pattern. */
export function createAjv(engine: RegexEngine, meter: Meter): Ajv2020 {
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

/** Says why a schema is no valid draft 2020-12 schema. Undefined if it is one. */
export function checkAgainstMeta(schema: object): string | undefined {
  metaAjv ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const valid = metaAjv.validateSchema(schema);
  return valid === true ? undefined : metaAjv.errorsText(metaAjv.errors?.slice(0, 3), { dataVar: "schema" });
}

/** Replaces Ajv's own check, which compares every item with every other. */
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
