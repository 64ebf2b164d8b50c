import type { Learning } from "../../search/learning/learning.ts";
import type { SearchIndex } from "../../search/port/search-index.ts";
import type { PeopleUsage } from "../access/usage.ts";
import type { View } from "../access/view.ts";
import type { WaitingCalls } from "../access/waiting-calls.ts";
import type { BoundScript, CallingClient, Entry } from "../nouns/entry.ts";
import type { Approval } from "../nouns/question.ts";
import type { CallTrace } from "../nouns/span-context.ts";
import type { Extractor } from "../sessions/extractor.ts";
import type { Idempotency } from "../storage/idempotency.ts";
import type { ObservedShapes } from "../storage/observed-shapes.ts";
import type { CallSession } from "../storage/session-store.ts";
import type { Discovery } from "../telemetry/discovery.ts";
import type { NoticeEvent } from "../telemetry/events.ts";
import type { Auditor } from "./auditor.ts";
import type { ApprovalRequest, CallPolicy } from "./decide-call.ts";

/** Services that all calls of a gateway share. */
export interface CallServices {
  readonly extractor: Extractor;
  readonly idempotency: Idempotency;
  /** Absent if there is no audit log. */
  readonly audit?: Auditor;
  readonly discovery: Discovery;
  readonly shapes: ObservedShapes;
  /** Absent if learning from use is switched off. */
  readonly learning?: Learning;
}

/** The request that a call belongs to. */
export interface RequestInfo {
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly client?: CallingClient;
  readonly trace?: CallTrace;
}

/** Decides on calls that need a person's approval. `signal` aborts when the caller no longer waits. */
export type Approve = (
  request: ApprovalRequest,
  call?: { readonly signal: AbortSignal },
) => Approval | Promise<Approval>;

/** Everything needed to run an entry. It has a View, never the catalog. */
export interface CallScope {
  readonly view: View;
  readonly session?: CallSession;
  readonly services: CallServices;
  readonly search: Pick<SearchIndex, "search">;
  readonly request: RequestInfo;
  readonly policy: CallPolicy;
  readonly approve: Approve;
  /** Questions that a person answers in another process, if the gateway stores them. */
  readonly waiting?: WaitingCalls | undefined;
  /** Counts calls by person and server, and refuses calls over a limit. */
  readonly usage?: PeopleUsage | undefined;
  /** Called before every call, including those of scripts and recipes. Returns a reason to refuse it. */
  readonly beforeCall?: BeforeCall | undefined;
  /** The face asks a person what `approve` leaves open, and repeats the call with the answer. */
  readonly asksLater: boolean;
  /** Runs the script of a recipe. Absent inside such a script: recipes cannot run recipes. */
  readonly runScript?: (script: BoundScript, signal: AbortSignal) => Promise<ScriptValue>;
  /** Milliseconds a call may take, unless its entry says otherwise. */
  readonly callMs: number;
  notice(notice: NoticeEvent["notice"], detail: string): void;
}

export type BeforeCall = (
  entry: Entry,
  args: Readonly<Record<string, unknown>>,
) => Promise<string | undefined>;

/** The value of a script, and the servers whose results it read (untrusted text). */
export interface ScriptValue {
  readonly value: unknown;
  readonly sources: readonly string[];
}
