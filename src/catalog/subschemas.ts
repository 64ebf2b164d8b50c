import { fieldPath } from "../util/field-path.ts";

/** How a subschema is reached from the schema that holds it. */
export interface Subschema {
  readonly value: unknown;
  readonly pointer: string;
  /** Says the same instance again, where other subschemas look at a part of it. */
  readonly inPlace: boolean;
  /** May be applied many times for one application of its holder. */
  readonly repeated: boolean;
  /** What it adds to the field's path: a name, `[]` for items, `*` for any name. */
  readonly field: string;
}

type Shape = "one" | "list" | "map";

interface Keyword {
  readonly shape: Shape;
  readonly inPlace?: true;
  readonly repeated?: true;
  readonly field?: string;
}

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["allOf", { shape: "list", inPlace: true }],
  ["anyOf", { shape: "list", inPlace: true }],
  ["oneOf", { shape: "list", inPlace: true }],
  ["not", { shape: "one", inPlace: true }],
  ["if", { shape: "one", inPlace: true }],
  ["then", { shape: "one", inPlace: true }],
  ["else", { shape: "one", inPlace: true }],
  ["dependentSchemas", { shape: "map", inPlace: true }],
  ["dependencies", { shape: "map", inPlace: true }],
  ["properties", { shape: "map" }],
  ["patternProperties", { shape: "map", repeated: true, field: "*" }],
  ["additionalProperties", { shape: "one", repeated: true, field: "*" }],
  ["unevaluatedProperties", { shape: "one", repeated: true, field: "*" }],
  ["propertyNames", { shape: "one", repeated: true, field: "*" }],
  ["items", { shape: "one", repeated: true, field: "[]" }],
  ["additionalItems", { shape: "one", repeated: true, field: "[]" }],
  ["unevaluatedItems", { shape: "one", repeated: true, field: "[]" }],
  ["prefixItems", { shape: "list", field: "[]" }],
  ["contains", { shape: "one", repeated: true, field: "[]" }],
  ["contentSchema", { shape: "one" }],
  ["$defs", { shape: "map" }],
  ["definitions", { shape: "map" }],
]);

/** The schemas directly inside a schema, in the order of its keywords. */
export function* subschemas(schema: Readonly<Record<string, unknown>>): Generator<Subschema> {
  for (const name of Object.keys(schema)) {
    const keyword = KEYWORDS.get(name);
    if (keyword === undefined) continue;
    const value = schema[name];
    const { inPlace = false, repeated = false, field = "" } = keyword;
    const base = { inPlace, repeated, field };
    // Tuples of older drafts are lists under `items`.
    if (keyword.shape === "one" && !Array.isArray(value)) {
      yield { ...base, value, pointer: name };
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        yield { ...base, value: item, pointer: `${name}/${index}` };
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        // `dependencies` of older drafts may list names instead.
        if (name === "dependencies" && Array.isArray(item)) continue;
        const own = inPlace || field !== "" ? field : fieldPath([key]);
        yield { ...base, value: item, pointer: `${name}/${key}`, field: own };
      }
    }
  }
}
