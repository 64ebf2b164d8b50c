import { type Problem, problem } from "../../base/problems/problem.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { definitionHash } from "../nouns/definition-hash.ts";
import { type AskBefore, type Entry, LANES, type Lane, type ScriptBounds } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";
import type { ToolQuestion } from "../nouns/question.ts";

/** A requested call, with its arguments before they are checked. */
export interface CallRequest {
  readonly args?: unknown;
  /** Absent: destructive tools run dry, all other tools run. */
  readonly dryRun?: boolean | undefined;
}

/** How a face lets calls run. */
export interface CallPolicy {
  /** `read`: this tool of the surface runs nothing that writes. */
  readonly reach: "read" | "any";
  /** The calls that a person must approve. The domain of a tool may add calls. */
  readonly asks: AskBefore;
  /** The bounds of the recipe that makes the call. The call of the recipe itself was decided by this policy. */
  readonly within?: ScriptBounds;
}

/** The question whether a call may run. An answer is bound to its hash, its principal and its session. */
export interface ApprovalRequest {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Stands for the tool's definition, the program behind it and the exact arguments. */
  readonly hash: string;
  readonly principal: Principal;
  /** The handle of the session that the call belongs to. */
  readonly session?: string;
  /** Why a person is asked: the tool's author requires it, it is destructive, it writes, or it asks while it runs. */
  readonly why: "confirmation" | "destroys" | "writes" | "permission";
  /** The question of a running tool; `args` has its parts then. */
  readonly asks?: ToolQuestion;
  /** The handle of the plan by which the same request goes on after the answer, if it has done a part already. */
  readonly resume?: string;
  /** The call is a part of a script. Without an answer now, the script asks once about all its remaining effects. */
  readonly inScript?: true;
}

/** The end of a call that waits for a person: nothing is done, and the same call goes on once the question is answered. */
export interface AskingCall {
  readonly asks: ApprovalRequest;
}

export type CallDecision =
  | { readonly do: "run" }
  | { readonly do: "dry-run"; readonly why: "requested" | "destructive" }
  | { readonly do: "ask"; readonly question: ApprovalRequest }
  | { readonly do: "refuse"; readonly problem: Problem };

/**
 * Decides about one call: run it, run it dry, ask a person, or refuse. Pure. Every face uses it, so no two of them
 * can disagree.
 */
export function decideCall(
  entry: Entry,
  principal: Principal,
  request: CallRequest,
  policy: CallPolicy,
): CallDecision {
  const { lane, status } = entry;
  const name = addressOf(entry);
  if (status) return refuse(problem("UNAVAILABLE", { name, ...status }));
  if (policy.within && isBeyond(entry, policy.within))
    return refuse(problem("BEYOND_RECIPE", { name, lane }));
  if (lane !== "read" && policy.reach === "read") return refuse(problem("ACCESS_DENIED", { name, lane }));
  if (principal.seesAs !== undefined)
    return entry.kind === "tool"
      ? { do: "dry-run", why: "requested" }
      : refuse(problem("SEES_ONLY", { name }));
  if (entry.kind === "tool" && (request.dryRun ?? lane === "destructive"))
    return { do: "dry-run", why: request.dryRun ? "requested" : "destructive" };
  if (lane !== "read" && !principal.allowWrite) return refuse(problem("PERMISSION_DENIED", { name, lane }));
  const why = whyAsk(entry, policy);
  if (!why) return { do: "run" };
  const args = (request.args ?? {}) as ApprovalRequest["args"];
  return { do: "ask", question: { op: entry.op, args, hash: callHash(entry, args), principal, why } };
}

/** Binds approvals to the tool as it is defined now, to the program behind it, and to the exact arguments. */
export function callHash(entry: Entry, args: unknown): string {
  const program = entry.origin?.program ?? "";
  return contentHash({ op: entry.op, definition: definitionHash(entry), program, args: args ?? {} });
}

/** The question of a tool that runs. An approval is bound to every word of it. */
export function questionOf(
  entry: Entry,
  args: unknown,
  asks: ToolQuestion,
  whose: Pick<ApprovalRequest, "principal" | "session">,
): ApprovalRequest {
  const { action, reason, diff } = asks;
  const hash = contentHash([callHash(entry, args), asks]);
  const shown = { action, reason, ...(diff !== undefined && { diff }) };
  return { op: entry.op, args: shown, hash, ...whose, why: "permission", asks };
}

/** Whether a call is outside the bounds that its recipe was saved with. */
function isBeyond(entry: Entry, { lane, calls }: ScriptBounds): boolean {
  if (LANES.indexOf(entry.lane) > LANES.indexOf(lane)) return true;
  const changes = entry.lane !== "read" || (entry.kind === "tool" && entry.requiresConfirmation);
  // A recipe keeps the op that its tool had when the recipe was saved.
  const names = [entry.op, ...(entry.addresses ?? [])];
  return changes && calls !== undefined && !names.some((name) => calls.includes(name));
}

/** Why a person must approve calls that do not run dry; undefined if nobody must. */
export function whyAsk(
  entry: Entry,
  { asks, within }: Pick<CallPolicy, "asks" | "within">,
): ApprovalRequest["why"] | undefined {
  if (entry.kind !== "tool" || entry.asksItself) return undefined;
  // The person to ask has approved the recipe.
  if (within?.confirmation) return undefined;
  if (entry.requiresConfirmation) return "confirmation";
  // The call of the recipe itself was decided by the policy, but not by the domains of its calls.
  return whyByLane(entry.lane, entry.ask) ?? (within ? undefined : whyByLane(entry.lane, asks));
}

function whyByLane(lane: Lane, asks: AskBefore = "confirmed"): ApprovalRequest["why"] | undefined {
  if (lane === "read" || asks === "confirmed") return undefined;
  if (lane === "destructive") return "destroys";
  return asks === "destructive" ? undefined : "writes";
}

function refuse(refusal: Problem): CallDecision {
  return { do: "refuse", problem: refusal };
}
