import { problem } from "../schema/problem.ts";
import type { Json } from "../util/json.ts";
import type { Executed } from "./exec.ts";

const MAX_DEPTH = 64;

type Earlier = (reference: number | string) => Promise<Executed | undefined>;

/** Replaces every `{ "$result": index or id, "path": "/pointer" }` in args with its referent. */
export async function resolveReferences(value: unknown, earlier: Earlier, depth = 0): Promise<unknown> {
  if (value === null || typeof value !== "object") return value;
  if (depth > MAX_DEPTH)
    throw problem("LIMIT_EXCEEDED", { what: "The depth of args", actual: "more", limit: MAX_DEPTH });
  if (Array.isArray(value))
    return Promise.all(value.map((item) => resolveReferences(item, earlier, depth + 1)));
  if (isReference(value)) return follow(value, earlier);
  const fields = Object.entries(value).map(async ([key, field]) => [
    key,
    await resolveReferences(field, earlier, depth + 1),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}

interface Reference {
  readonly $result: number | string;
  readonly path?: string;
}

function isReference(value: object): value is Reference {
  if (!Object.hasOwn(value, "$result")) return false;
  const { $result, path } = value as Partial<Reference>;
  const known = typeof $result === "number" || typeof $result === "string";
  return known && (path === undefined || typeof path === "string");
}

async function follow({ $result, path = "" }: Reference, earlier: Earlier): Promise<Json> {
  const executed = await earlier($result);
  const failed = (reason: string) => problem("REFERENCE_FAILED", { reference: `${$result}${path}`, reason });
  if (!executed) throw failed("there is no earlier exec request of that index or id");
  const { outcome } = executed;
  if (!outcome.ok) throw failed(`that request failed with ${outcome.failure.problem.code}`);
  const { JSONPointer } = await import("json-p3");
  try {
    return new JSONPointer(path).resolve(outcome.value) as Json;
  } catch {
    throw failed("the path does not exist in its result");
  }
}
