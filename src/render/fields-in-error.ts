import type { FieldError } from "../schema/entry.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { fieldPath } from "../util/field-path.ts";
import { nearest } from "../util/nearest.ts";
import { createWalk, flatten, toObjectView } from "./flatten-schema.ts";

const NEAR_NAMES = 2;
/** The first step of a field's path: a plain name, or a quoted one in brackets. */
const FIRST_STEP = /^(?:\["(?:[^"\\]|\\.)*"\]|[^.[]+)/;

/**
 * The arguments that someone needs to see to repair a call, the most wanted first: those with errors, then the
 * ones whose names are nearest to what was given and is not known. For `first` of {@link fitSchema}.
 */
export function fieldsInError(schema: JsonSchema, errors: readonly FieldError[], args: unknown): string[] {
  const walk = createWalk(schema);
  const names = toObjectView(walk, flatten(walk, schema)).properties.map(({ name }) => name);
  const byStep = new Map(names.map((name) => [fieldPath([name]), name]));
  const known = new Set(names);
  const wrong = errors.flatMap(({ field }) => byStep.get(FIRST_STEP.exec(field)?.[0] ?? "") ?? []);
  const suggested = errors.flatMap(({ nearest: name }) =>
    name !== undefined && known.has(name) ? [name] : [],
  );
  const given = typeof args === "object" && args !== null ? Object.keys(args) : [];
  const near = given
    .filter((name) => !known.has(name))
    .slice(0, MAX_UNKNOWN)
    .flatMap((name) => nearest(name, names, NEAR_NAMES));
  return [...new Set([...wrong, ...suggested, ...near])];
}

/** Comparing names takes time, and the errors name no more than this many. */
const MAX_UNKNOWN = 20;
