import { toExampleArgs } from "../../base/json-schema/example-args.ts";
import type { FieldError } from "../../base/json-schema/field-error.ts";
import { validateParams } from "../../base/json-schema/validate-params.ts";
import type { MessageTemplate } from "../../base/problems/format-message.ts";
import { isProblem, type Problem, problem } from "../../base/problems/problem.ts";
import type { ProblemCode } from "../../base/problems/problems.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import type { CallContext, Entry, ToolEntry } from "../nouns/entry.ts";
import type { CallScope } from "./call-environment.ts";
import { type CallRecord, type Decided, recordCall } from "./call-record.ts";
import { type ApprovalRequest, type CallRequest, callHash, decideCall } from "./decide-call.ts";
import { missingRead, readRefusal, readWarning } from "./read-before-write.ts";
import { type EntryResult, runEntry } from "./run-entry.ts";

export interface ResolvedCall extends CallRequest {
  readonly idempotencyKey?: string | undefined;
}

export interface MadeCall extends Omit<EntryResult, "warnings"> {
  readonly warnings: readonly (string | MessageTemplate)[];
  readonly dryRun: boolean;
}

/**
 * Makes one call: decides, checks the params, asks a person if needed, runs. The audit log has a record of it in any
 * case. Throws the problem of a call that is refused or fails.
 */
export async function makeCall(
  entry: Entry,
  wanted: ResolvedCall,
  environment: CallScope,
): Promise<MadeCall> {
  const record = recordCall(entry, wanted.args, environment);
  try {
    const made = await make(entry, wanted, environment, record);
    record.settle();
    return made;
  } catch (error) {
    record.settle(error);
    throw error;
  }
}

async function make(
  entry: Entry,
  wanted: ResolvedCall,
  environment: CallScope,
  record: CallRecord,
): Promise<MadeCall> {
  const { principal } = environment.view;
  const decision = decideCall(entry, principal, wanted, environment.policy);
  if (decision.do === "refuse") throw decision.problem;
  const parsed = await validateParams(entry, wanted.args);
  if (!parsed.ok) throw invalidParams(entry, parsed.errors);
  const { value: args, warnings: ignored = [] } = parsed;
  const isDry = decision.do === "dry-run";
  const unread = missingRead(entry, args, environment);
  if (unread?.refuses && !isDry) throw readRefusal(entry, unread);
  const warnings = unread ? [...ignored, readWarning(entry, unread, !isDry)] : ignored;
  if (isDry && entry.kind === "tool") {
    const dryRun = async (call: CallContext) => entry.dryRun?.(args, call) ?? simulate(entry, args);
    const ran = await record.run({ decided: "dry-run" }, () =>
      runEntry(entry, environment, dryRun, { dry: true, args }),
    );
    const warning = dryRunWarning(entry, decision.why, principal.allowWrite);
    return { ...ran, warnings: [...warnings, warning, ...ran.warnings], dryRun: true };
  }

  const run = async (): Promise<MadeCall> => {
    const how: Decided =
      decision.do === "ask"
        ? { decided: "approved", approvedBy: await askFirst({ ...decision.question, args }, environment) }
        : { decided: "run" };
    const start = (call: CallContext) =>
      entry.kind === "tool" ? entry.call(args, call) : entry.load(args, call);
    const ran = await record.run(how, () => runEntry(entry, environment, start, { dry: false, args }));
    return { ...ran, warnings: [...warnings, ...ran.warnings], dryRun: false };
  };
  // A read may run twice, so its key is not stored.
  if (wanted.idempotencyKey === undefined || entry.lane === "read") return await run();
  const { view } = environment;
  const hash = callHash(entry, wanted.args);
  const call = { view, entry, key: wanted.idempotencyKey, name: addressOf(entry), hash };
  return environment.services.idempotency.once(call, run, neverRan);
}

/** The problem of wrong params, with everything that a corrected call needs. */
function invalidParams(entry: Entry, errors: readonly FieldError[]): Problem {
  const example = entry.examples[0]?.args ?? toExampleArgs(entry.inputSchema);
  const details = { field_errors: errors, schema: entry.inputSchema, example };
  return problem("INVALID_PARAMS", { name: addressOf(entry) }, details);
}

/**
 * Asks a person. Resolves to who approved.
 *
 * @throws APPROVAL_DECLINED or APPROVAL_REQUIRED.
 */
export async function askFirst(
  question: ApprovalRequest,
  { approve }: Pick<CallScope, "approve">,
): Promise<string> {
  const answer = await approve(question);
  if (answer === true) return "application";
  if (typeof answer === "object" && "by" in answer) return answer.by;
  if (answer === false) throw problem("APPROVAL_REQUIRED", { name: question.op });
  const said = typeof answer === "object" ? `, and says: ${answer.declined}` : "";
  throw problem("APPROVAL_DECLINED", { name: question.op, said });
}

const NEVER_RAN: readonly ProblemCode[] = ["APPROVAL_REQUIRED", "APPROVAL_DECLINED", "AUDIT_FAILED"];

function neverRan(error: unknown): boolean {
  return isProblem(error) && NEVER_RAN.includes(error.code);
}

/** The dry run of a tool that defines none: it shows the checked call. */
function simulate({ op }: ToolEntry, args: Record<string, unknown>) {
  return { simulated: true, would_call: op, args };
}

/** Whether a value is the dry run of a tool that defines none. */
export function isSimulated(value: unknown): boolean {
  return isPlainObject(value) && value.simulated === true && typeof value.would_call === "string";
}

function dryRunWarning(
  entry: ToolEntry,
  why: "requested" | "destructive",
  allowWrite: boolean,
): MessageTemplate {
  return {
    sentences: [
      ...(why === "destructive" ? ["{name} is {lane}, so it ran dry."] : []),
      "Nothing was changed.",
      ...(allowWrite || entry.lane === "read"
        ? ["To apply it, call {exec} again with {apply}."]
        : ["This caller may not write.", "{allow_write}"]),
    ],
    fills: { name: addressOf(entry), lane: entry.lane },
  };
}
