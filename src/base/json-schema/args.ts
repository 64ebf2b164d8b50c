import { toVisibleText } from "../safety/visible-text.ts";
import { fitAssembled, type Piece, type TokenBudget } from "../tokens/fit-pieces.ts";
import { cutText } from "../util/cut-text.ts";
import type { Json } from "../util/json.ts";
import { isPlainObject } from "../util/plain-object.ts";
import { toSummary } from "../util/to-summary.ts";
import { createWalk, flatten, toObjectView } from "./flatten-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
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
  if (!isPlainObject(schema)) return [];
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

const TYPE_CHARS = 60;
const DEFAULT_CHARS = 24;

/**
 * Shortens a list of arguments, required ones first, to a token budget. Optional arguments first lose their
 * descriptions, then disappear from the end; required ones follow. The JSON of the result stays within the budget, or
 * the list is empty. `omitted` counts the missing ones. See {@link toArgs}.
 */
export function fitArgs(
  args: readonly Arg[],
  budget: TokenBudget,
): { readonly args: readonly Arg[]; readonly omitted: number } {
  const forms = args.map((arg): readonly Arg[] => [arg, toBrief(arg)]);
  const pieces = forms.map(
    ([whole, brief], index): Piece => ({
      forms: [JSON.stringify(whole), JSON.stringify(brief), ""],
      prices: args[index]!.required ? [3, 4] : [1, 2],
    }),
  );
  const fitted = fitAssembled(pieces, budget, (chosen) =>
    forms.flatMap((ofArg, index) => ofArg[chosen[index]!] ?? []),
  );
  return { args: fitted ?? [], omitted: args.length - (fitted?.length ?? 0) };
}

function toBrief({ name, type, required, ...rest }: Arg): Arg {
  const isShort = rest.default !== undefined && JSON.stringify(rest.default).length <= DEFAULT_CHARS;
  return { name, type: cutText(type, TYPE_CHARS), required, ...(isShort && { default: rest.default! }) };
}
