import type { JsonSchema } from "../schema/json-schema.ts";
import { isFields } from "../util/fields.ts";
import type { Json } from "../util/json.ts";
import { toSummary } from "../util/to-summary.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { createWalk, flatten, toObjectView } from "./flatten-schema.ts";
import { spellType } from "./signature.ts";

/** One argument, as `help` lists it. */
export interface Arg {
  readonly name: string;
  /** Spelled as in the signature. */
  readonly type: string;
  readonly required: boolean;
  readonly default?: Json;
  readonly description?: string;
}

/** Lists the arguments of an input schema, required ones first. Takes any value; must not throw. See {@link fitArgs}. */
export function toArgs(schema: JsonSchema): Arg[] {
  if (!isFields(schema)) return [];
  const walk = createWalk(schema, 100_000);
  return toObjectView(walk, flatten(walk, schema)).properties.map((property) => {
    const flat = flatten(walk, property.schema).schema;
    const description =
      typeof flat.description === "string" ? toSummary(toVisibleText(flat.description)) : "";
    return {
      name: property.name,
      type: spellType(walk, property.schema),
      required: property.required,
      ...(Object.hasOwn(flat, "default") ? { default: flat.default as Json } : {}),
      ...(description === "" ? {} : { description }),
    };
  });
}
