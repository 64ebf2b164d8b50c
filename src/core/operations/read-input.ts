import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { readFields, reasonsOf } from "../nouns/input-fields.ts";
import { fromJsonNames, toJsonPath } from "./json-names.ts";
import type { Operation } from "./operation.ts";

export interface ReadInput<T> {
  readonly input: T;
  /** Fields that were sent and are unknown. */
  readonly ignored: readonly string[];
}

/** Gemini CLI offers this field beside those of every tool and forwards it. */
const ADDED_BY_CLIENTS = "wait_for_previous";

/**
 * Reads an input as clients and models send it. Unknown fields are ignored and reported, unless a client added them
 * by itself.
 *
 * @throws INVALID_INPUT if the rest does not fit the operation's schema.
 */
export function readInput<I extends z.ZodType>(
  operation: Pick<Operation<I, unknown, z.ZodType>, "name" | "input" | "aliases">,
  given: unknown,
): ReadInput<z.output<I>> {
  const named = fromJsonNames(operation.input, given);
  const shape = operation.input instanceof z.ZodObject ? operation.input.shape : {};
  const { fields, unknown } = isPlainObject(named)
    ? readFields(named, shape, operation.aliases)
    : { fields: named ?? {}, unknown: [] };
  const parsed = operation.input.safeParse(fields);
  if (parsed.success)
    return { input: parsed.data, ignored: unknown.filter((name) => name !== ADDED_BY_CLIENTS) };
  const issues = parsed.error.issues.map((issue) => ({
    ...issue,
    path: toJsonPath(operation.input, issue.path),
  }));
  throw problem("INVALID_INPUT", { operation: operation.name, reason: reasonsOf({ issues }) });
}
