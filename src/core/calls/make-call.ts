import { randomUUID } from "node:crypto";
import { toExampleArgs } from "../../base/json-schema/example-args.ts";
import type { FieldError } from "../../base/json-schema/field-error.ts";
import { validateParams } from "../../base/json-schema/validate-params.ts";
import type { MessageTemplate } from "../../base/problems/format-message.ts";
import { customProblem, isProblem, Problem, problem } from "../../base/problems/problem.ts";
import { PROBLEMS, WAITING_CALL } from "../../base/problems/problems.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { field, fieldsOf, isPlainObject } from "../../base/util/plain-object.ts";
import type { AuditedCall } from "../audit/audit-store.ts";
import { definitionHash } from "../nouns/definition-hash.ts";
import { type CallContext, domainOf, type Entry, type ToolEntry } from "../nouns/entry.ts";
import { flatShape } from "../telemetry/events.ts";
import type { CallScope } from "./call-environment.ts";
import {
  type ApprovalRequest,
  type AskingCall,
  askerOf,
  type CallRequest,
  callHash,
  decideCall,
  loginNeeded,
} from "./decide-call.ts";
import { missingRead, readRefusal, readWarning } from "./read-before-write.ts";
import { type EntryResult, runEntry } from "./run-entry.ts";

export interface ResolvedCall extends CallRequest {
  readonly idempotencyKey?: string | undefined;
}

export interface MadeCall extends Omit<EntryResult, "warnings"> {
  readonly warnings: readonly (string | MessageTemplate)[];
  readonly dryRun: boolean;
}

/** Makes one call: decides, checks params, asks if needed, runs, audits. Throws the problem of a failed call. */
export async function makeCall(
  entry: Entry,
  wanted: ResolvedCall,
  environment: CallScope,
): Promise<MadeCall | AskingCall> {
  const record = recordCall(entry, wanted.args, environment);
  try {
    const callOutcome = await make(entry, wanted, environment, record);
    if ("asks" in callOutcome) record.asked();
    else record.settle();
    return callOutcome;
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
): Promise<MadeCall | AskingCall> {
  const { principal } = environment.view;
  const decision = decideCall(entry, principal, wanted, environment.policy);
  if (decision.do === "refuse") throw decision.problem;
  const parsed = await validateParams(entry, wanted.args);
  if (!parsed.ok) throw invalidParams(entry, parsed.errors);
  const { value: args, warnings: ignored = [] } = parsed;
  const refusal = await environment.beforeCall?.(entry, args);
  if (refusal !== undefined)
    throw customProblem("PERMISSION_DENIED", `A hook of the person refuses this call: ${refusal}`, GO_ON);
  const isDry = decision.do === "dry-run";
  const mayWrite = principal.allowWrite || entry.lane === "read";
  const unread = missingRead(entry, args, environment);
  if (unread?.refuses && !isDry) throw readRefusal(entry, unread);
  const readFirst = unread && readWarning(entry, unread, !isDry);
  const warnings = [
    ...ignored,
    ...(readFirst ? [readFirst] : []),
    ...(isDry ? [mayWrite ? NOTHING_CHANGED : MAY_NOT_WRITE] : []),
  ];
  let asks: ApprovalRequest | undefined =
    decision.do === "ask" ? { ...decision.question, ...askerOf(environment), args } : undefined;
  let hasBegun = false;
  const start = async (how: Decided): Promise<MadeCall | undefined> => {
    const dryRun = how === DRY_RUN;
    const begin = (call: CallContext) => {
      if (entry.kind !== "tool") return entry.load(args, call);
      if (!dryRun) return entry.call(args, call);
      return entry.dryRun?.(args, call) ?? Promise.resolve(simulate(entry, args));
    };
    const ran = await metered(entry, environment, dryRun, () =>
      record.run(how, () => {
        hasBegun = true;
        return runEntry(entry, environment, begin, { dry: dryRun, args });
      }),
    );
    if (!("asks" in ran)) return { ...ran, warnings: [...warnings, ...ran.warnings], dryRun };
    asks = ran.asks;
    return undefined;
  };
  const run = async (): Promise<MadeCall | undefined> => {
    const how = asks ? await approvalOf(asks, environment) : isDry ? DRY_RUN : RUN;
    return how && start(how);
  };
  const { idempotencyKey: key } = wanted;
  // A read may run twice, so its key is not stored.
  const made =
    key === undefined || isDry || entry.lane === "read"
      ? await run()
      : await environment.services.idempotency.once(
          { view: environment.view, entry, key, name: addressOf(entry), hash: callHash(entry, wanted.args) },
          run,
          () => !hasBegun,
        );
  if (made || !asks) return made!;
  if (environment.asksLater) return { asks };
  const waitsAs = await environment.waiting?.add(asks);
  if (decision.do !== "ask" || decision.unasked === "refuse") return { asks, waitsAs };
  warnings.push(dryRunWarning(entry, asks, waitsAs));
  return (await start(DRY_RUN))!;
}

/** Runs a call within the limits of its person and server. A dry run does not count. */
async function metered<T>(
  { op, domain, origin }: Entry,
  { usage, view, request: { traceId } }: CallScope,
  isDry: boolean,
  run: () => Promise<T>,
): Promise<T> {
  if (!usage || isDry) return run();
  const person = view.principal.id;
  const leave = await usage.enter({ person, server: origin?.source ?? domain, op, traceId });
  let hasFailed = true;
  try {
    const runOutcome = await run();
    hasFailed = false;
    return runOutcome;
  } finally {
    leave(hasFailed);
  }
}

/** Problem of wrong params, with everything needed to correct the call. */
function invalidParams(entry: Entry, errors: readonly FieldError[]): Problem {
  const example = entry.examples[0]?.args ?? toExampleArgs(entry.inputSchema);
  const details = { fieldErrors: errors, schema: entry.inputSchema, example };
  return problem("INVALID_PARAMS", { name: addressOf(entry) }, details);
}

const GO_ON = "Do not try to get round it: ask the person, or go on without it.";

const RUN: Decided = { decided: "run" };
const DRY_RUN: Decided = { decided: "dry-run" };

/**
 * A person's approval, with their name; undefined without an answer. An answer from another process comes first.
 *
 * @throws APPROVAL_DECLINED.
 */
export async function approvalOf(
  question: ApprovalRequest,
  { approve, waiting }: Pick<CallScope, "approve" | "waiting">,
): Promise<Extract<Decided, { decided: "approved" }> | undefined> {
  const answer = (await waiting?.take(question)) || (await approve(question));
  if (answer === false) return undefined;
  if (answer === true) return { decided: "approved", approvedBy: "application" };
  if (typeof answer === "object" && "by" in answer) return { decided: "approved", approvedBy: answer.by };
  const said = typeof answer === "object" ? `, and says: ${answer.declined}` : "";
  throw problem("APPROVAL_DECLINED", { name: question.op, said });
}

/** The dry run of a tool without its own: it shows the checked call. */
function simulate({ op }: ToolEntry, args: Record<string, unknown>) {
  return { simulated: true, would_call: op, args };
}

/** Whether a value is the dry run of a tool without its own. */
export function isSimulated(value: unknown): boolean {
  return isPlainObject(value) && value.simulated === true && typeof value.would_call === "string";
}

const NOTHING_CHANGED: MessageTemplate = { sentences: "Nothing was changed." };
const MAY_NOT_WRITE: MessageTemplate = {
  sentences: ["Nothing was changed.", "This caller may not write.", "{allow_write}"],
};

/** Says why a call ran dry instead of asking, and how a person allows it. */
function dryRunWarning({ lane }: Entry, asks: ApprovalRequest, waitsAs: string | undefined): MessageTemplate {
  const { sentence, next } = waitsAs === undefined ? PROBLEMS.APPROVAL_REQUIRED : WAITING_CALL;
  const steps = [next].flat().filter((step) => !step.includes("{dry_run}"));
  return {
    sentences: [`It is ${lane}, so it ran dry: nothing was changed.`, sentence, ...steps],
    fills: approvalFills(asks, waitsAs),
  };
}

/** Problem of a call that could ask nobody, with the way to allow it. */
export function approvalRequired({ asks, waitsAs }: AskingCall): Problem {
  const { opens } = asks.asks ?? {};
  if (opens !== undefined) return loginNeeded(domainOf(asks.op), opens);
  const row = waitsAs === undefined ? PROBLEMS.APPROVAL_REQUIRED : WAITING_CALL;
  return new Problem("APPROVAL_REQUIRED", approvalFills(asks, waitsAs), {}, row);
}

export function approvalFills({ op, steeredBy }: ApprovalRequest, waitsAs: string | undefined) {
  const because =
    steeredBy === undefined
      ? ""
      : `, because text from ${steeredBy} in this session tried to steer the model`;
  return { name: op, because, call: waitsAs ?? "" };
}

/** The decision that let a call run. */
export type Decided =
  | { readonly decided: "run" | "dry-run" }
  | { readonly decided: "approved"; readonly approvedBy: string };

/** Audit records of one call. */
export interface CallRecord {
  /** Runs the call between the records of its start and its end. */
  run<T extends { readonly value: Json } | AskingCall>(how: Decided, run: () => Promise<T>): Promise<T>;
  /** Records that the call was refused or answered from an idempotency key, unless it ran. */
  settle(refusal?: unknown): void;
  /** Records that the call waits for a person, or that nobody can be asked. */
  asked(): void;
}

const MAX_ARGS = 32;
const MAX_NAME_CHARS = 64;
const MAX_CHARS = 512;
const UNRECORDED: CallRecord = { run: (_, run) => run(), settle: () => {}, asked: () => {} };

function recordCall(entry: Entry, args: unknown, environment: CallScope): CallRecord {
  const { audit } = environment.services;
  if (!audit) return UNRECORDED;
  const about = describe(entry, args, environment);
  const { call, traceId, actor, principal, op, route } = about;
  let hasRun = false;

  return {
    run: async (how, run) => {
      const bounded =
        how.decided === "approved" ? { ...how, approvedBy: cutText(how.approvedBy, MAX_CHARS) } : how;
      const writes = entry.lane !== "read" && how.decided !== "dry-run";
      await audit.noteFirst({ kind: "call-started", ...about, ...bounded }, writes);
      hasRun = true;
      const started = performance.now();
      const end = (outcome: string, result?: string) => {
        const ms = Math.round(performance.now() - started);
        const ended = {
          kind: "call-ended",
          call,
          traceId,
          actor,
          principal,
          op,
          route,
          outcome,
          ms,
        } as const;
        audit.note({ ...ended, ...(result && { result }) });
      };
      try {
        const ran = await run();
        if ("asks" in ran) end("asks");
        else end("ok", flatShape(ran.value));
        return ran;
      } catch (error) {
        end(codeOf(error));
        throw error;
      }
    },
    settle: (refusal) => {
      if (hasRun) return;
      if (refusal === undefined) return audit.note({ kind: "call-repeated", ...about });
      const outcome = codeOf(refusal);
      const decided = outcome === "APPROVAL_DECLINED" ? "asked" : "refused";
      audit.note({ kind: "call-refused", ...about, decided, outcome });
    },
    asked: () => {
      if (hasRun) return;
      if (environment.asksLater) return audit.note({ kind: "call-asked", ...about });
      audit.note({ kind: "call-refused", ...about, decided: "asked", outcome: "APPROVAL_REQUIRED" });
    },
  };
}

function describe(entry: Entry, args: unknown, { request, view }: CallScope): AuditedCall {
  const { traceparent } = request.trace ?? {};
  const { id, seesAs = id } = view.principal;
  return {
    call: randomUUID(),
    traceId: request.traceId,
    ...(traceparent !== undefined && { traceparent: cutText(traceparent, MAX_CHARS) }),
    actor: cutText(id, MAX_CHARS),
    principal: cutText(seesAs, MAX_CHARS),
    op: cutText(entry.op, MAX_CHARS),
    route: cutText(entry.route, MAX_CHARS),
    entryKind: entry.kind,
    lane: entry.lane,
    definition: definitionHash(entry),
    args: shapesOf(args, entry),
  };
}

/** Names declared arguments only: an undeclared name may itself be a value. */
function shapesOf(args: unknown, { inputSchema }: Entry): Readonly<Record<string, string>> {
  const declared = field(inputSchema, "properties");
  const fields = Object.entries(fieldsOf(args));
  const declaredFields = fields.filter(([name]) => field(declared, name) !== undefined).slice(0, MAX_ARGS);
  const others = fields.length - declaredFields.length;
  return Object.fromEntries([
    ...declaredFields.map(([name, value]) => [cutText(name, MAX_NAME_CHARS), flatShape(value)]),
    ...(others > 0 ? [["(others)", String(others)]] : []),
  ]);
}

function codeOf(error: unknown): string {
  return isProblem(error) ? error.code : "INTERNAL";
}
