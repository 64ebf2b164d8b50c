import { validateParams } from "../catalog/validate-params.ts";
import { isGuided, resolveGuidance } from "../guidance/resolve-guidance.ts";
import { toExampleArgs } from "../render/example-args.ts";
import { toSignature } from "../render/signature.ts";
import type { CallContext, Entry, Lane } from "../schema/entry.ts";
import { isProblem, type Problem, problem } from "../schema/problem.ts";
import { cleanText } from "../util/clean-text.ts";
import { contentHash } from "../util/content-hash.ts";
import type { Json } from "../util/json.ts";
import { reasonOf } from "../util/reason-of.ts";
import { toJson } from "../util/to-json.ts";
import { addressOf, conversationOf, type OperationContext } from "./operation.ts";
import { rememberFailure, rememberRun } from "./remember-run.ts";
import { type Shown, showResult } from "./show-result.ts";
import { withDeadline } from "./with-deadline.ts";

const REASON_CHARS = 1_000;
const OFTEN_NEXT = "Often used next.";

/** A next step as an answer carries it. */
export interface GuidanceStep {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signature?: string;
  readonly lane: Lane;
}

export interface Outcome extends Shown {
  /** All of the result, for references from later requests. */
  readonly value: Json;
  readonly guidance: GuidanceStep[];
  readonly warnings: readonly string[];
}

/** Params as the entry wants them; or the problem with everything needed to get them right. */
export async function checkParams(
  entry: Entry,
  params: unknown,
  code: "INVALID_PARAMS" | "VALIDATION_ERROR",
): Promise<{ value: Record<string, unknown>; warnings: readonly string[] }> {
  const outcome = await validateParams(entry, params);
  if (outcome.ok) return { value: outcome.value, warnings: outcome.warnings ?? [] };
  const example = entry.examples[0]?.args ?? toExampleArgs(entry.inputSchema);
  const details = { field_errors: outcome.errors, schema: entry.inputSchema, example };
  throw problem(code, { name: addressOf(entry) }, details);
}

/** An entry that exists may still be out of use. */
export function checkAvailable(entry: Entry): void {
  if (entry.status) throw problem("UNAVAILABLE", { name: addressOf(entry), ...entry.status });
}

/** What an approval and an idempotency key are bound to: the op with the args as they were given. */
export function callHash(entry: Entry, given: unknown): string {
  return contentHash({ op: entry.op, args: given ?? {} });
}

/** Has a person, or whoever decides for one, approve this exact call. */
export async function checkApproved(
  entry: Entry,
  args: Record<string, unknown>,
  given: unknown,
  { approve, view }: OperationContext,
): Promise<void> {
  const hash = callHash(entry, given);
  if (await approve({ op: entry.op, args, hash, principal: view.principal })) return;
  throw problem("APPROVAL_REQUIRED", { name: entry.op }, { call_hash: hash });
}

/** Runs an entry with checked params, within its time and the result budget. Throws problems only. */
export async function runEntry(
  entry: Entry,
  context: OperationContext,
  call: (callContext: CallContext) => Promise<unknown>,
  { dry = false } = {},
): Promise<Outcome> {
  try {
    const outcome = await run(entry, context, call);
    rememberRun(entry, context, outcome, dry);
    return outcome;
  } catch (error) {
    if (!dry) rememberFailure(entry, context);
    throw error;
  }
}

async function run(
  entry: Entry,
  context: OperationContext,
  call: (callContext: CallContext) => Promise<unknown>,
): Promise<Outcome> {
  const ms = (entry.kind === "tool" && entry.timeoutMs) || context.limits.callMs;
  const returned = await withDeadline({ ms, signal: context.signal, name: addressOf(entry) }, (signal) =>
    call({
      principal: context.view.principal,
      get signal() {
        return signal();
      },
      traceId: context.traceId,
      ...(context.session && { session: context.session.handle }),
      ...(context.client && { client: context.client }),
      ...(context.trace && { trace: context.trace }),
    }),
  );

  const json = toJson(isGuided(returned) ? returned.content : returned);
  if (!json.ok) throw problem("RESULT_INVALID", { name: addressOf(entry), reason: json.reason });
  context.learning?.note({ kind: "used", ...conversationOf(context), route: entry.route });
  return {
    value: json.value,
    ...showResult(json.value, context),
    guidance: stepsOf(entry, isGuided(returned) ? returned.guidance : [], context),
    warnings: json.warnings,
  };
}

/** Whatever is thrown reaches the caller as a problem; one that a tool raised itself is kept. */
export function asKnownProblem(error: unknown, name: string): Problem {
  if (isProblem(error)) return error;
  const reason = reasonOf(error);
  return problem("INTERNAL", { name, reason: cleanText(reason, REASON_CHARS) || "no reason given" });
}

function stepsOf(entry: Entry, given: readonly unknown[], context: OperationContext): GuidanceStep[] {
  const learned = context.learning?.after(context.view.scopeKey, entry.route) ?? [];
  const isShown = (route: string) => {
    const target = context.view.find(route);
    return target !== undefined && target.visibility !== "hidden";
  };
  const declared = [
    ...entry.guidance,
    ...learned.filter(isShown).map((route) => ({ route, prose: OFTEN_NEXT })),
  ];
  const steps = resolveGuidance(given, declared, context.view.find, (route) =>
    context.notice("guidance-dropped", `${entry.route} leads to ${cleanText(route, 200)}`),
  );
  return steps.map(({ entry: target, ...step }) => ({
    ...step,
    ...(target.kind !== "resource" && { signature: toSignature(target.inputSchema) }),
    lane: target.lane,
  }));
}
