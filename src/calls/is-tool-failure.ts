import { isProblem } from "../schema/problem.ts";

const FAILURES: ReadonlySet<string> = new Set([
  "CALL_FAILED",
  "UPSTREAM_ERROR",
  "RESULT_INVALID",
  "INTERNAL",
]);
/** Gateways answer so for a service that is out of reach. */
const OUT_OF_REACH: ReadonlySet<unknown> = new Set([502, 503, 504]);
/** The code of MCP and JSON-RPC for wrong params. Servers report it in the text of a result, too. */
const WRONG_PARAMS = "-32602";

/**
 * Whether the tool itself failed, so that another one may suit the need better. Wrong params, cancellation,
 * timeouts, missing rights and services out of reach say nothing about that.
 */
export function isToolFailure(error: unknown): boolean {
  if (!isProblem(error)) return true;
  if (!FAILURES.has(error.code) || error.message.includes(WRONG_PARAMS)) return false;
  const { network, status } = error.details;
  if (network !== undefined || OUT_OF_REACH.has(status)) return false;
  return typeof status !== "number" || status >= 500;
}
