import type { z } from "zod";
import type { View } from "../access/view.ts";
import type { CallingClient, Entry } from "../schema/entry.ts";
import type { Principal } from "../schema/principal.ts";
import type { CallTrace } from "../schema/span-context.ts";
import type { Learning } from "../search/learning/learning.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { Extractor } from "../session/extractor.ts";
import type { Idempotency } from "../session/idempotency.ts";
import type { ResultStore } from "../session/result-store.ts";
import type { Session, SessionStore } from "../session/session-store.ts";
import type { Cause } from "../session/tokens-by-cause.ts";
import type { NoticeEvent } from "../telemetry/events.ts";
import type { TokenCounter } from "../util/tokens.ts";
import type { Aside } from "./ledger.ts";

export interface Limits {
  /** Tokens of an `ask` answer where the caller does not say. */
  readonly askTokens: number;
  /** Tokens of one result; what is larger goes to the result store. */
  readonly resultTokens: number;
  /** Milliseconds a tool or resource may take where its definition does not say. */
  readonly callMs: number;
  /** Requests in one batch, and routes in one get. */
  readonly batchSize: number;
  /** Requests of a batch or get that run at the same time. */
  readonly concurrency: number;
  /** Tokens that one session may be given in all. Answers shrink to what is left; then calls are refused. */
  readonly sessionTokens: number;
}

/** A call that a person is asked to approve. `hash` is of the exact op and args. */
export interface ApprovalRequest {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly hash: string;
  readonly principal: Principal;
}

/** What an operation works with. It sees a View, never the catalog. */
export interface OperationContext {
  readonly view: View;
  readonly search: Pick<SearchIndex, "search">;
  /** Absent where learning from use is switched off. */
  readonly learning?: Learning;
  readonly sessions: SessionStore;
  readonly results: ResultStore;
  readonly extractor: Extractor;
  readonly idempotency: Idempotency<unknown>;
  readonly countTokens: TokenCounter;
  readonly limits: Limits;
  readonly approve: (request: ApprovalRequest) => boolean | Promise<boolean>;
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly session?: Session;
  /** What is left of the session's budget. */
  readonly tokensLeft?: number;
  /** The session belongs to the connection: the caller need not repeat it, so answers leave it out. */
  readonly sessionImplied?: boolean;
  /** Where there is no `exec`, `get` runs tools that write too, for those who may write. */
  readonly getMayWrite?: boolean;
  /** So many of the hits of an `ask` count as discovered; absent: all. */
  readonly discovers?: number;
  readonly client?: CallingClient;
  readonly trace?: CallTrace;
  notice(notice: NoticeEvent["notice"], detail: string): void;
  /** Keeps help answers for as long as the catalog stands. */
  remember<T>(key: string, make: () => T): T;
}

/** One definition of an operation; every face is derived from it. */
export interface Operation<I extends z.ZodType, O extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** For a model that has to choose: what it does and when to use it. */
  readonly purpose: string;
  readonly readOnly: boolean;
  readonly input: I;
  readonly output: O;
  run(input: z.output<I>, context: OperationContext): Promise<z.input<O>>;
  /** The answer as a model reads it. */
  toText(output: z.input<O>): string;
  /** Why its answers are put into an agent's context. */
  readonly cause: Cause;
  /** What in an answer's text is there for another reason. */
  asides?(output: z.input<O>, context: OperationContext): readonly Aside[];
  /** The entries that an input names, for the record. */
  targets(input: z.output<I>): readonly string[];
  /** The code of the problem, if the answer carries one. */
  outcome(output: z.input<O>): string;
}

export function defineOperation<I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
): Operation<I, O> {
  return operation;
}

/** Whose queries and calls belong together: a session's, or without one a principal's. */
export function conversationOf({ session, view }: OperationContext): { scope: string; conversation: string } {
  return { scope: view.scopeKey, conversation: session?.handle ?? view.principal.id };
}

/** The session as an answer names it. */
export function sessionField({ session, sessionImplied }: OperationContext): { session?: string } {
  return session && !sessionImplied ? { session: session.handle } : {};
}

/** What an entry is called in messages: tools by op, everything else by route. */
export function addressOf(entry: Pick<Entry, "kind" | "op" | "route">): string {
  return entry.kind === "tool" ? entry.op : entry.route;
}
