import type { ErrorObject } from "ajv";
import type { Json } from "../util/json.ts";
import { fieldsOf, isPlainObject } from "../util/plain-object.ts";
import type { FieldError } from "./field-error.ts";
import { fieldPath } from "./field-path.ts";
import { createWalk, flatten, toObjectView } from "./flatten-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { keywordMessage, missingMessage, unionMessage, unknownMessage } from "./keyword-message.ts";
import { unescapePart } from "./walk-schema.ts";

const MAX_ERRORS = 20;

/** Turns the validator's first errors into sentences. */
export function toFieldErrors(errors: readonly ErrorObject[], root: Json): FieldError[] {
  const byText = new Map<string, FieldError>();
  for (const folded of foldErrors(errors)) {
    const fieldError = toFieldError(folded, root);
    byText.set(`${fieldError.field}\n${fieldError.message}`, fieldError);
    if (byText.size === MAX_ERRORS) break;
  }
  return [...byText.values()];
}

function toFieldError({ error, branches }: FoldedError, root: Json): FieldError {
  const keys = keysOf(error.instancePath, root);
  const { params } = error;
  const sent = namesOf(error.data);
  const declared = namesOf(error.parentSchema?.properties);
  switch (error.keyword) {
    case "required": {
      const name = String(params.missingProperty);
      return {
        field: fieldPath([...keys, name]),
        message: missingMessage(name, fieldsOf(error.data), declared),
      };
    }
    case "dependentRequired":
    case "dependencies":
      return {
        field: fieldPath([...keys, params.missingProperty]),
        message: `is required when ${fieldPath([params.property])} is given`,
      };
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      return { field: fieldPath([...keys, name]), ...unknownMessage(name, sent, declared) };
    }
    case "anyOf":
    case "oneOf":
      return { field: fieldPath(keys), message: unionMessage(error, branches) };
    default:
      return { field: fieldPath(keys), message: keywordMessage(error) };
  }
}

/** Only the value shows which numbers of a pointer are positions in a list. */
function keysOf(pointer: string, root: Json): (string | number)[] {
  let at: unknown = root;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const name = unescapePart(part);
      const key = Array.isArray(at) ? Number(name) : name;
      at = typeof at === "object" && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
      return key;
    });
}

function namesOf(value: unknown): string[] {
  return isPlainObject(value) ? Object.keys(value) : [];
}

/** An error with those of its alternatives. */
interface FoldedError {
  readonly error: ErrorObject;
  /** For a choice between schemas: why each does not fit. */
  readonly branches: readonly ErrorObject[];
}

/** Groups the errors of alternatives under their choice, and drops repetitions. */
function foldErrors(errors: readonly ErrorObject[]): FoldedError[] {
  const folded: FoldedError[] = [];
  for (const error of errors) {
    if (error.keyword === "if") continue;
    folded.push({ error, branches: GATHERING.has(error.keyword) ? takeBranches(folded, error) : [] });
  }
  return folded;
}

const GATHERING: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains", "propertyNames"]);

/** The validator reports the branches right before the choice. */
function takeBranches(folded: FoldedError[], choice: ErrorObject): ErrorObject[] {
  const branches: ErrorObject[] = [];
  for (let last = folded.at(-1); last !== undefined; last = folded.at(-1)) {
    const { error } = last;
    const within =
      error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`);
    if (!within || error.parentSchema === choice.parentSchema) break;
    folded.pop();
    branches.unshift(error, ...last.branches);
  }
  return branches;
}

/** The first part of a field's path: a plain name, or a quoted one in brackets. */
const FIRST_STEP = /^(?:\["(?:[^"\\]|\\.)*"\]|[^.[]+)/;

/** Arguments for repairing a call: those with errors, then those suggested. For `first` of {@link fitSchema}. */
export function fieldsInError(schema: JsonSchema, errors: readonly FieldError[]): string[] {
  const walk = createWalk(schema);
  const names = toObjectView(walk, flatten(walk, schema)).properties.map(({ name }) => name);
  const byStep = new Map(names.map((name) => [fieldPath([name]), name]));
  const declaredNames = new Set(names);
  const wrong = errors.flatMap(({ field }) => byStep.get(FIRST_STEP.exec(field)?.[0] ?? "") ?? []);
  const suggested = errors.flatMap(({ nearest: name }) =>
    name !== undefined && declaredNames.has(name) ? [name] : [],
  );
  return [...new Set([...wrong, ...suggested])];
}
