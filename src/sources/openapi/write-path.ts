import { problem } from "../../schema/problem.ts";
import type { ParameterPlan } from "./operation-plan.ts";
import { percentEncode, writePath } from "./write-parameter.ts";

/**
 * Fills a path template with parameters, each within its own segment. Refuses a value that would leave or empty
 * its segment, because servers and proxies resolve `..` and `//`.
 *
 * @throws `INVALID_PARAMS`
 */
export function fillTemplate(
  template: string,
  parameters: readonly ParameterPlan[],
  args: Readonly<Record<string, unknown>>,
  op: string,
): string {
  const byName = new Map(parameters.filter(({ place }) => place === "path").map((plan) => [plan.name, plan]));
  const segments = template.split("/").map((segment) => {
    const used: ParameterPlan[] = [];
    const filled = segment.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      const plan = byName.get(name)!;
      used.push(plan);
      const value = Object.hasOwn(args, plan.argument) ? args[plan.argument] : undefined;
      if (leavesSegment(value)) throw wrong(op, plan, "must not have .. as a part of a path");
      return writePath(plan, value);
    });
    const [first] = used;
    if (first === undefined) return encodeLiteral(segment);
    const whole = filled.replaceAll(/%2e/gi, ".");
    if (whole === "") throw wrong(op, first, "must not be empty");
    if (whole === "." || whole === "..") throw wrong(op, first, "must not be . or ..");
    return filled;
  });
  return segments.join("/");
}

/** Says why a path of the document cannot be a template. Undefined if it can. */
export function templateRefusal(template: string): string | undefined {
  if (!template.startsWith("/")) return "its path does not begin with /";
  if (/[?#\\]|\p{Cc}/u.test(template)) return "its path has characters that end or change a path";
  const segments = template.replaceAll(/%2e/gi, ".").split("/");
  if (segments.includes("..") || segments.includes(".")) return "its path has . or .. in it";
  return undefined;
}

function leavesSegment(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(leavesSegment);
  if (typeof value === "object" && value !== null) return Object.entries(value).flat().some(leavesSegment);
  if (typeof value !== "string") return false;
  return value.includes("..") && value.split(/[\\/]/).includes("..");
}

function encodeLiteral(segment: string): string {
  return segment.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%]+/g, percentEncode);
}

function wrong(op: string, { argument }: ParameterPlan, message: string) {
  return problem("INVALID_PARAMS", { name: op }, { field_errors: [{ field: argument, message }] });
}
