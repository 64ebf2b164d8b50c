import { z } from "zod";
import { problem } from "../schema/problem.ts";
import { contentHash } from "../util/content-hash.ts";
import { lazy } from "../util/lazy.ts";
import { toJson } from "../util/to-json.ts";

const requestSchema = lazy(() => {
  const address = z.string().min(1).max(2_000);
  const args = z.record(z.string(), z.unknown()).nullish();
  return z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("call"), address, args }),
    z.object({ kind: z.literal("get"), address, args }),
    z.object({ kind: z.literal("ask"), query: z.string().min(1).max(2_000) }),
    z.object({ kind: z.literal("help"), path: z.string().max(600).optional() }),
    z.object({ kind: z.literal("sleep"), ms: z.number().min(0).max(600_000) }),
  ]);
});

/** A request that a script may make of its host. */
export type Request = z.output<ReturnType<typeof requestSchema>>;

/**
 * Reads a request as the script sent it.
 *
 * @throws INVALID_INPUT if it is not one.
 */
export function readRequest(given: unknown): Request {
  const json = toJson(given);
  const read = requestSchema().safeParse(json.ok ? json.value : undefined);
  if (read.success) return read.data;
  const reason = json.ok
    ? read.error.issues.map(({ path, message }) => `${path.join(".") || "request"}: ${message}`).join("; ")
    : json.reason;
  throw problem("INVALID_INPUT", { operation: "the call in the script", reason });
}

const LONGEST_KEY = 200;

/** Stands for the exact request: its JSON, or a hash where that is long. */
export function requestKey(request: Request): string {
  const json = JSON.stringify(request);
  return json.length <= LONGEST_KEY ? json : contentHash(request);
}
