import { customProblem, type Problem, problem } from "../../base/problems/problem.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { definitionHash } from "../nouns/definition-hash.ts";
import { DOES, type Entry, LANES, type Lane, type ScriptBounds } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";
import { ASKS, type AskBefore, type ToolQuestion } from "../nouns/question.ts";

/** A requested call. Its arguments are not checked yet. */
export interface CallRequest {
  readonly args?: unknown;
  /** Absent: a destructive call runs dry if it needs a person and nobody can be asked. */
  readonly dryRun?: boolean | undefined;
}

/** Rules of a face for calls. */
export interface CallPolicy {
  /** `read`: this tool runs nothing that writes. */
  readonly reach: "read" | "any";
  /** The calls that at least need a person's approval. The tool and its domain may add calls. */
  readonly asks: AskBefore;
  /** The calls that need approval if neither the tool nor its domain says. Default: `destructive`. */
  readonly byDefault?: AskBefore;
  /** Servers whose text in this session tried to steer the model: a write to any other server asks. */
  readonly steeredBy?: readonly string[];
  /** The bounds of the recipe that makes the call. The recipe's own call was already decided. */
  readonly within?: ScriptBounds;
}

/** The question whether a call may run. An answer is bound to its hash, its principal and its session. */
export interface ApprovalRequest {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Covers the tool's definition, the program behind it and the exact arguments. */
  readonly hash: string;
  readonly principal: Principal;
  /** The handle of the session that the call belongs to. */
  readonly session?: string;
  /**
   * Why a person is asked: the author or config requires it, the call destroys or writes, it writes after another
   * server's text tried to steer the model, or the running tool asks.
   */
  readonly why: "confirmation" | "destroys" | "writes" | "steered" | "permission";
  /** The server whose text tried to steer the model. */
  readonly steeredBy?: string;
  /** The question of a running tool. `args` then has its parts. */
  readonly asks?: ToolQuestion;
  /** Handle of the plan with which the same request continues after the answer, if it has done a part already. */
  readonly resume?: string;
  /** The call is part of a script. Without an answer now, the script asks once about all remaining effects. */
  readonly inScript?: true;
}

/** A call that waits for a person: nothing is done yet, and the same call continues once the question is answered. */
export interface AskingCall {
  readonly asks: ApprovalRequest;
  /** The name to approve it by in another process, if nobody could be asked here. */
  readonly waitsAs?: string | undefined;
}

export type CallDecision =
  | { readonly do: "run" }
  | { readonly do: "dry-run" }
  /** `unasked`: what to do if nobody can be asked. */
  | { readonly do: "ask"; readonly question: ApprovalRequest; readonly unasked: "dry-run" | "refuse" }
  | { readonly do: "refuse"; readonly problem: Problem };

/** Decides about one call: run, run dry, ask a person, or refuse. Pure. Every face uses it, so they cannot disagree. */
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

/** Binds an approval to the tool's present definition, the program behind it and the exact arguments. */
export function callHash(entry: Entry, args: unknown): string {
  const program = entry.origin?.program ?? "";
  return contentHash({ op: entry.op, definition: definitionHash(entry), program, args: args ?? {} });
}

/** The question of a running tool. An approval covers every word of it. */
export function questionOf(
  entry: Entry,
  args: unknown,
  asks: ToolQuestion,
  whose: Pick<ApprovalRequest, "principal" | "session">,
): ApprovalRequest {
  // The link differs in each round.
  const { opens: _, ...words } = asks;
  const { action, reason, diff } = words;
  const hash = contentHash([callHash(entry, args), words]);
  const shown = { action, reason, ...(diff !== undefined && { diff }) };
  return { op: entry.op, args: shown, hash, ...whose, why: "permission", asks };
}

/** Problem of a call whose person first has to log in to a server, with the link. */
export function loginNeeded(server: string, url: string): Problem {
  const message = `The server ${server} wants the login of the person who calls, and they have not logged in yet.`;
  const next = `Give the person this link, which works once and for a few minutes: ${url} Make the same call again when they have logged in.`;
  return customProblem("LOGIN_NEEDED", message, next, { url });
}

/** Whether a call exceeds the bounds that its recipe was saved with. */
function isBeyond(entry: Entry, { lane, calls }: ScriptBounds): boolean {
  if (LANES.indexOf(entry.lane) > LANES.indexOf(lane)) return true;
  const changes = entry.lane !== "read" || needsConfirmation(entry);
  // A recipe keeps the op that its tool had when the recipe was saved.
  const names = [entry.op, ...(entry.addresses ?? [])];
  return changes && calls !== undefined && !names.some((name) => calls.includes(name));
}

/** Whether every call of a tool needs a person, even one that reads. */
function needsConfirmation(entry: Entry): boolean {
  return entry.kind === "tool" && (entry.requiresConfirmation || entry.ask === "always");
}

/** Why a person must approve calls that do not run dry; undefined if no person must. */
export function whyAsk(entry: Entry, policy: Omit<CallPolicy, "reach">): ApprovalRequest["why"] | undefined {
  if (entry.kind !== "tool" || entry.asksItself) return undefined;
  const { asks, byDefault = "destructive", within } = policy;
  // The person to ask has approved the recipe.
  if (within?.confirmation) return undefined;
  if (needsConfirmation(entry)) return "confirmation";
  // The policy decided about the recipe's own call, but the `ask` of each tool in it still counts.
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

/** Another server than the entry's own whose text tried to steer the model. */
function otherServer({ domain }: Entry, { steeredBy }: Pick<CallPolicy, "steeredBy">): string | undefined {
  return steeredBy?.find((server) => server !== domain);
}

function refuse(refusal: Problem): CallDecision {
  return { do: "refuse", problem: refusal };
}

/** The stricter of two. A misspelt value from plain JavaScript counts as the strictest. */
export function stricterAsk(one: AskBefore = "never", other: AskBefore = "never"): AskBefore {
  const strictness = [one, other].map((ask) => ASKS.indexOf(ask));
  return strictness.includes(-1) ? "always" : ASKS[Math.max(...strictness)]!;
}

/** Binds a question to this principal, and to this session if there is one. */
export function askerOf({
  view,
  session,
}: {
  readonly view: { readonly principal: Principal };
  readonly session?: { readonly handle: string };
}) {
  return { principal: view.principal, ...(session && { session: session.handle }) };
}
