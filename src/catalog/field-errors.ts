import type { ErrorObject } from "ajv";
import type { FieldError } from "../schema/entry.ts";
import { unescapePart } from "../schema/resolve-pointer.ts";
import { fieldPath } from "../util/field-path.ts";
import type { Json } from "../util/json.ts";
import { missingMessage, unknownMessage } from "../util/name-messages.ts";
import { type FoldedError, foldErrors } from "./fold-errors.ts";
import { keywordMessage, unionMessage } from "./keyword-message.ts";

const MAX_ERRORS = 20;

/** Turns the validator's first errors into sentences for the caller. */
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
  const given = namesOf(error.data);
  const known = namesOf(error.parentSchema?.properties);
  switch (error.keyword) {
    case "required": {
      const name = String(params.missingProperty);
      return { field: fieldPath([...keys, name]), message: missingMessage(name, given, known) };
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
      return { field: fieldPath([...keys, name]), ...unknownMessage(name, given, known) };
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
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}
