import type { JsonSchema } from "../schema/json-schema.ts";
import { createWalk } from "./flatten-schema.ts";
import { spellName, spellType } from "./signature.ts";

/** Spells the type of a result, as in `{ items: { id: number }[] }`; only its field names if it is too long. */
export function toResultType(schema: JsonSchema, maxChars: number): string {
  const whole = spellType(createWalk(schema), schema);
  if (whole.length <= maxChars) return whole;
  const names = Object.keys((schema.properties ?? {}) as object).map(spellName);
  let short = "";
  for (const name of names) {
    const longer = short === "" ? name : `${short}, ${name}`;
    if (longer.length + 8 > maxChars) break;
    short = longer;
  }
  return short === "" ? "~object" : `~{ ${short}, … }`;
}
