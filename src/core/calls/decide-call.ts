import { customProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { definitionHash } from "../nouns/definition-hash.ts";
import { DOES, type Entry, LANES, type Lane, type ScriptBounds } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";
import { ASKS, type AskBefore, type ToolQuestion } from "../nouns/question.ts";

/** A requested call, with its arguments before they are checked. */
export interface CallRequest {
  readonly args?: unknown;
  /** Absent: a destructive call runs dry if it needs a person and nobody can be asked. */
  readonly dryRun?: boolean | undefined;
}

/** How a face lets calls run. */
export interface CallPolicy {
  /** `read`: this tool of the surface runs nothing that writes. */
  readonly reach: "read" | "any";
  /** The calls that a person must approve at least. The tool and its domain may add calls. */
  readonly asks: AskBefore;
  /** The calls that a person must approve if neither the tool nor its domain says. Default: `destructive`. */
  readonly byDefault?: AskBefore;
  /** Servers whose text in this session tried to steer the model: a write to any other server asks. */
  readonly steeredBy?: readonly string[];
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
  /**
   * Why a person is asked: its author or the config requires it, it is destructive, it writes, it writes after text of
   * another server tried to steer the model, or it asks while it runs.
   */
  readonly why: "confirmation" | "destroys" | "writes" | "steered" | "permission";
  /** The server whose text tried to steer the model. */
  readonly steeredBy?: string;
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
  /** The name under which the person answers in another process, if nobody could be asked here. */
  readonly waitsAs?: string | undefined;
}

export type CallDecision =
  | { readonly do: "run" }
  | { readonly do: "dry-run" }
  /** `unasked` is what happens if nobody can be asked. */
  | { readonly do: "ask"; readonly question: ApprovalRequest; readonly unasked: "dry-run" | "refuse" }
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
  const does = DOES[lane];
  if (status) return refuse(problem("UNAVAILABLE", { name, ...status }));
  if (policy.within && isBeyond(entry, policy.within))
    return refuse(problem("BEYOND_RECIPE", { name, does }));
  if (lane !== "read" && policy.reach === "read") return refuse(problem("ACCESS_DENIED", { name, does }));
  if (principal.seesAs !== undefined)
    return entry.kind === "tool" ? { do: "dry-run" } : refuse(problem("SEES_ONLY", { name }));
  if (entry.kind === "tool" && request.dryRun) return { do: "dry-run" };
  if (lane !== "read" && !principal.allowWrite) return refuse(problem("PERMISSION_DENIED", { name, does }));
  const why = whyAsk(entry, policy);
  if (!why) return { do: "run" };
  const args = (request.args ?? {}) as ApprovalRequest["args"];
  const steeredBy = why === "steered" ? { steeredBy: otherServer(entry, policy)! } : {};
  return {
    do: "ask",
    question: { op: entry.op, args, hash: callHash(entry, args), principal, why, ...steeredBy },
    unasked: lane === "destructive" && request.dryRun === undefined ? "dry-run" : "refuse",
  };
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
  // Each round has another link.
  const { opens: _, ...words } = asks;
  const { action, reason, diff } = words;
  const hash = contentHash([callHash(entry, args), words]);
  const shown = { action, reason, ...(diff !== undefined && { diff }) };
  return { op: entry.op, args: shown, hash, ...whose, why: "permission", asks };
}

/** The problem of a call whose person has to log in to a server first, with the link for them. */
export function loginNeeded(server: string, url: string): Problem {
  const message = `The server ${server} wants the login of the person who calls, and they have not logged in yet.`;
  const next = `Give the person this link, which works once and for a few minutes: ${url} Make the same call again when they have logged in.`;
  return customProblem("LOGIN_NEEDED", message, next, { url });
}

/** Whether a call is outside the bounds that its recipe was saved with. */
function isBeyond(entry: Entry, { lane, calls }: ScriptBounds): boolean {
  if (LANES.indexOf(entry.lane) > LANES.indexOf(lane)) return true;
  const changes = entry.lane !== "read" || needsConfirmation(entry);
  // A recipe keeps the op that its tool had when the recipe was saved.
  const names = [entry.op, ...(entry.addresses ?? [])];
  return changes && calls !== undefined && !names.some((name) => calls.includes(name));
}

/** Whether every call of a tool needs a person, also one that reads. */
function needsConfirmation(entry: Entry): boolean {
  return entry.kind === "tool" && (entry.requiresConfirmation || entry.ask === "always");
}

/** Why a person must approve calls that do not run dry; undefined if nobody must. */
export function whyAsk(entry: Entry, policy: Omit<CallPolicy, "reach">): ApprovalRequest["why"] | undefined {
  if (entry.kind !== "tool" || entry.asksItself) return undefined;
  const { asks, byDefault = "destructive", within } = policy;
  // The person to ask has approved the recipe.
  if (within?.confirmation) return undefined;
  if (needsConfirmation(entry)) return "confirmation";
  // The call of the recipe itself was decided by the policy, but not by the word about each tool in it.
  if (within) return whyByLane(entry.lane, stricterAsk(entry.ask));
  const why = whyByLane(entry.lane, stricterAsk(asks, entry.ask ?? byDefault));
  return why ?? (entry.lane !== "read" && otherServer(entry, policy) !== undefined ? "steered" : undefined);
}

function whyByLane(lane: Lane, asks: AskBefore): ApprovalRequest["why"] | undefined {
  if (asks === "always" && lane === "read") return "confirmation";
  if (lane === "read" || asks === "never") return undefined;
  if (lane === "destructive") return "destroys";
  return asks === "destructive" ? undefined : "writes";
}

/** A server other than the entry's own whose text tried to steer the model. */
function otherServer({ domain }: Entry, { steeredBy }: Pick<CallPolicy, "steeredBy">): string | undefined {
  return steeredBy?.find((server) => server !== domain);
}

function refuse(refusal: Problem): CallDecision {
  return { do: "refuse", problem: refusal };
}

/** The stricter of two. A misspelt word, which plain JavaScript may pass, counts as the strictest. */
export function stricterAsk(one: AskBefore = "never", other: AskBefore = "never"): AskBefore {
  const strictness = [one, other].map((ask) => ASKS.indexOf(ask));
  return strictness.includes(-1) ? "always" : ASKS[Math.max(...strictness)]!;
}

/** A question is asked for this principal, and for this session if there is one. */
export function askerOf({
  view,
  session,
}: {
  readonly view: { readonly principal: Principal };
  readonly session?: { readonly handle: string };
}) {
  return { principal: view.principal, ...(session && { session: session.handle }) };
}
