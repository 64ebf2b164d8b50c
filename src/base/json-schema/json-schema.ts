/** A JSON Schema document (2020-12). The type is loose: outside schemas are checked at ingest. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The TypeScript type of a JSON Schema literal, for plain keywords. */
export type FromJsonSchema<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { type: readonly (infer T)[] }
      ? FromType<T, S>
      : S extends { type: infer T }
        ? FromType<T, S>
        : S extends { properties: unknown }
          ? FromType<"object", S>
          : unknown;

type FromType<T, S> = T extends keyof Scalars
  ? Scalars[T]
  : T extends "array"
    ? (S extends { items: infer I } ? FromJsonSchema<I> : unknown)[]
    : T extends "object"
      ? S extends { properties: infer P }
        ? FromProperties<P, S extends { required: readonly (infer R)[] } ? R : never>
        : Record<string, unknown>
      : unknown;

interface Scalars {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type FromProperties<P, R> = { -readonly [K in keyof P as K extends R ? K : never]: FromJsonSchema<P[K]> } & {
  -readonly [K in keyof P as K extends R ? never : K]?: FromJsonSchema<P[K]>;
};
