import { z } from "zod";
import { formatMessage, type MessageTemplate, type ToolNames } from "../../base/problems/format-message.ts";
import { Problem, problem } from "../../base/problems/problem.ts";
import { UNAPPROVED_PLAN, WAITING_PLAN } from "../../base/problems/script-problems.ts";
import type { Json } from "../../base/util/json.ts";
import { toJson } from "../../base/util/to-json.ts";
import { toContentText } from "../answers/content.ts";
import type { ApprovalRequest, AskingCall } from "../calls/decide-call.ts";
import { approvalFills } from "../calls/make-call.ts";
import { inJson } from "../nouns/json-form.ts";
import {
  type AnswerLimits,
  argsSchema,
  markOutside,
  outsideSchema,
  sessionText,
  warningsText,
} from "./answer-parts.ts";
import { errorSchema, errorText, type FailedOperation, ROOT, toErrorAnswer } from "./error-answer.ts";
import { defineOperation, type OperationContext } from "./operation.ts";
import type { Plan } from "./plan.ts";
import { effectSchema, effectsText, type ShownEffect, toShownEffects } from "./plan-effects.ts";
import { checkKeep, type Keeping, keepInput, keepRecipe, keptSchema } from "./recipes.ts";
import { missText, type Performance, type RunResult, runPlan, scriptFailure } from "./run-plan.ts";
import {
  blocksSchema,
  type ResultFrom,
  type StoredResult,
  showResult,
  storedSchema,
  storedText,
} from "./show-result.ts";

const runInput = z.object({
  code: z.string().min(1).max(200_000).optional().describe("Body of an async function"),
  params: argsSchema.optional().describe("The variable params of the script"),
  dryRun: inJson("dry_run", z.boolean().optional().describe("true: change nothing and return a plan")),
  plan: z.string().optional().describe("Handle of a plan to perform, instead of code"),
  timeoutMs: z.number().int().min(1).max(600_000).optional(),
  keep: keepInput.optional().describe("Keeps the script as a tool if it goes well"),
  session: z.string().optional(),
});

const runOutput = z.object({
  /** The value that the script returned. */
  result: z.unknown(),
  stored: storedSchema.optional(),
  /** Set if a server produced part of the result (untrusted text). */
  outside: outsideSchema.optional(),
  /** Images, sounds, files and links in the result. */
  blocks: blocksSchema.optional(),
  logs: z.string().optional(),
  /** Calls that write, in order: done, failed or planned. */
  effects: z.array(effectSchema),
  /** Planned effects that the script did not reach. */
  notDone: inJson("not_done", z.array(effectSchema).optional()),
  plan: z.object({ handle: z.string(), hash: z.string(), perform: z.string() }).optional(),
  dryRun: inJson("dry_run", z.boolean().optional()),
  /** The tool that the script was saved as. */
  kept: keptSchema.optional(),
  calls: z.number(),
  warnings: z.array(z.string()),
  error: errorSchema.optional(),
  session: z.string().optional(),
});
type RunOutput = z.input<typeof runOutput>;

/** A run before it is shown. */
export interface RunOutcome extends Omit<RunResult, "problem"> {
  readonly failure?: FailedOperation;
  readonly mayWrite: boolean;
  readonly effects: readonly ShownEffect[];
  readonly notDone: readonly ShownEffect[];
  readonly value: Json;
  readonly keeping?: Keeping | undefined;
}

const LOG_TOKENS_SHARE = 4;
const MOST_WARNINGS = 3;
const PERFORM: MessageTemplate = { sentences: "{perform_plan}" };
const IF_APPROVED: MessageTemplate = { sentences: "{perform_approved}" };
const MAY_NOT: MessageTemplate = { sentences: ["This caller may not write.", "{allow_write}"] };
/** For surfaces that can read stored results only in scripts. */
const READ_INSIDE: MessageTemplate = {
  sentences: "read on in {run} by get(handle, { path, offset, limit, grep, select, sort, group or count })",
};
const SHOWS_NOTHING = "The script returned nothing. Only what it returns or logs is shown.";
const NOTHING: Omit<RunOutput, "error"> = { result: null, effects: [], calls: 0, warnings: [] };

export const run = defineOperation({
  name: "run",
  title: "Run a script",
  purpose:
    "Runs JavaScript or TypeScript over the tools: many calls in one, and only what you return or log is shown. In it: await tools.<op>(args), call(address, args), get(address), ask(query), help(path), log(value), sleep(ms). dry_run: true lists what it would change as a plan, which plan then performs. A person is asked before a destructive call runs.",
  introduction: "runs a script over many tools",
  names: { lanes: "run", code: "run" },
  readOnly: false,
  input: runInput,
  output: runOutput,
  aliases: { script: "code", source: "code", javascript: "code", typescript: "code", args: "params" },
  command: {
    name: "script",
    usage: "CODE [name=value…]",
    takesValues: true,
    toInput: (words, params) => ({ ...(words.length > 0 && { code: words.join(" ") }), params }),
  },
  calls: () => [],
  run: runAll,
  question: ({ asks }) => asks,
  show,
  toText,
  errors: ({ error }) => [error],
  refuse: () => NOTHING,
  cause: "results",
  targets: () => [],
});

async function runAll(
  { code, params, plan, dryRun, timeoutMs, keep }: z.output<typeof runInput>,
  context: OperationContext,
): Promise<RunOutcome> {
  if (keep) await checkKeep(keep, code, context);
  const request = { code, params: params as Json | undefined, plan, dryRun, timeoutMs };
  const { problem: refused, ...result } = await runPlan(request, context);
  const { performance } = result;
  const end = performance?.outcome.end;
  const returned = toJson(end?.end === "returned" ? JSON.parse(end.json) : null);
  const unreadable = returned.ok
    ? undefined
    : problem("RESULT_INVALID", { name: "The script", reason: returned.reason });
  const { asks } = result;
  // A destructive script ran dry if nobody could be asked, like a single call.
  const isShown = asks?.why === "destroys" && dryRun === undefined && plan === undefined;
  const unanswered = asks && !isShown ? unapproved(asks, result.waitsAs) : undefined;
  const refusal = refused ?? unanswered ?? unreadable;
  const failed = refusal ? { problem: refusal, helpPath: ROOT } : performance && scriptFailure(performance);
  // An error of the script may quote text that it read.
  const read = performance && [...performance.calls.sources].join(", ");
  const failure = failed && { ...(read && { source: read }), ...failed };
  return {
    ...result,
    ...toShownEffects(result, context.view),
    ...(failure && { failure }),
    mayWrite: context.view.principal.allowWrite === true,
    value: returned.ok ? returned.value : null,
    keeping: keep && !failure ? await keepRecipe(keep, result, context) : undefined,
  };
}

function unapproved(asks: ApprovalRequest, waitsAs: string | undefined): Problem {
  const row = waitsAs === undefined ? UNAPPROVED_PLAN : WAITING_PLAN;
  return new Problem("APPROVAL_REQUIRED", approvalFills(asks, waitsAs), {}, row);
}

function show(
  { performance, plan, failure, effects, notDone, value, mayWrite, keeping, asks, waitsAs }: RunOutcome,
  limits: AnswerLimits,
): RunOutput {
  const room = { ...limits, words: { run: "run", ...limits.words } };
  const { calls, outcome } = performance ?? {};
  const source = calls && calls.sources.size > 0 ? [...calls.sources].join(", ") : undefined;
  const from = { source, origin: calls && [...calls.called] };
  const { content, stored, ...shown } = showResult(value, "run", room, from);
  const misses = failure ? [] : (outcome?.misses ?? []);
  const warnings = [
    ...(keeping && "notKept" in keeping ? [`Not kept: ${keeping.notKept}.`] : []),
    ...(showsNothing(performance) && !failure ? [SHOWS_NOTHING] : []),
    ...new Set(misses.map((miss) => missText(miss).trim())),
  ];
  return {
    result: content,
    ...shown,
    ...(stored && { stored: readInside(stored, room.words) }),
    ...showLogs(outcome?.logs ?? [], room, from),
    effects: [...effects],
    ...(notDone.length > 0 && { notDone: [...notDone] }),
    ...(plan && toPlanNote(plan, performing(mayWrite, failure, asks && { asks, waitsAs }), room.words)),
    ...(calls?.dry && { dryRun: true }),
    ...(keeping && "kept" in keeping && keeping),
    calls: calls?.requests ?? 0,
    warnings: warnings.slice(0, MOST_WARNINGS),
    ...(failure && { error: toErrorAnswer(failure, room) }),
    ...(room.session && { session: room.session }),
  };
}

function keptText({ op, lane, waits }: NonNullable<RunOutput["kept"]>): string {
  const rest = waits ? ` It waits for approval: ${waits}. The user has to type: keyhole approve recipes` : "";
  return `Kept as ${op} [${lane}].${rest}`;
}

function showsNothing(performance: Performance | undefined): boolean {
  if (!performance) return false;
  const { end, logs, misses } = performance.outcome;
  if (end.end !== "returned" || !end.nothing) return false;
  return logs.length + misses.length + performance.calls.effects.length === 0;
}

function toPlanNote({ handle, hash }: Plan, saying: MessageTemplate, words: ToolNames) {
  if (!handle) return {};
  const fills = { ...saying.fills, handle };
  return { plan: { handle, hash, perform: formatMessage({ ...saying, fills }, words) } };
}

/** How to perform the plan of an answer. */
function performing(
  mayWrite: boolean,
  failure: FailedOperation | undefined,
  asking: AskingCall | undefined,
): MessageTemplate {
  if (!mayWrite) return MAY_NOT;
  if (asking && !failure) {
    const { next } = asking.waitsAs === undefined ? UNAPPROVED_PLAN : WAITING_PLAN;
    const fills = approvalFills(asking.asks, asking.waitsAs);
    const steps = [next].flat().filter((step) => !step.includes("{dry_run}"));
    return { sentences: [UNAPPROVED_PLAN.sentence, ...steps, "{perform_approved}"], fills };
  }
  const code = failure?.problem.code;
  return code === "APPROVAL_REQUIRED" || code === "APPROVAL_DECLINED" ? IF_APPROVED : PERFORM;
}

function readInside(stored: StoredResult, words: ToolNames): StoredResult {
  return words.get === undefined ? { ...stored, read: formatMessage(READ_INSIDE, words) } : stored;
}

/** Logs get a part of the budget. What does not fit is stored under a handle. */
function showLogs(logs: readonly string[], room: AnswerLimits, from: ResultFrom): { logs?: string } {
  if (logs.length === 0) return {};
  const share = { ...room, resultTokens: Math.ceil(room.resultTokens / LOG_TOKENS_SHARE) };
  const { content, stored, outside } = showResult(logs.join("\n"), "logs", share, from);
  const where = storedText(stored && readInside(stored, room.words));
  return { logs: `${where}${markOutside(toContentText(content), outside)}` };
}

function toText(output: RunOutput): string {
  const { result, stored, outside, logs, effects, notDone, plan, kept, warnings, error, session } = output;
  const shown = markOutside(toContentText((result ?? null) as Json), outside);
  const content = error ? errorText(error) : `${storedText(stored)}${shown}`;
  return [
    content,
    ...(logs === undefined ? [] : [`Log:\n${logs}`]),
    ...effectsText(effects, notDone ?? [], error !== undefined),
    ...(plan ? [plan.perform] : []),
    ...(kept ? [keptText(kept)] : []),
  ]
    .join("\n")
    .concat(warningsText(warnings), sessionText(session));
}
