import type { FieldError } from "../schema/entry.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { fieldPath } from "../util/field-path.ts";
import { createWalk, flatten, toObjectView } from "./flatten-schema.ts";

/** The first step of a field's path: a plain name, or a quoted one in brackets. */
const FIRST_STEP = /^(?:\["(?:[^"\\]|\\.)*"\]|[^.[]+)/;

/**
 * The arguments that someone needs to see to repair a call, the most wanted first: those with errors, then those
 * that the errors suggest. For `first` of {@link fitSchema}.
 */
export function fieldsInError(schema: JsonSchema, errors: readonly FieldError[]): string[] {
  const walk = createWalk(schema);
  const names = toObjectView(walk, flatten(walk, schema)).properties.map(({ name }) => name);
  const byStep = new Map(names.map((name) => [fieldPath([name]), name]));
  const known = new Set(names);
  const wrong = errors.flatMap(({ field }) => byStep.get(FIRST_STEP.exec(field)?.[0] ?? "") ?? []);
  const suggested = errors.flatMap(({ nearest: name }) =>
    name !== undefined && known.has(name) ? [name] : [],
  );
  return [...new Set([...wrong, ...suggested])];
}
