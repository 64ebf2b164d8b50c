import type { ToolNames } from "../base/problems/format-message.ts";
import { problem } from "../base/problems/problem.ts";
import type { Clock } from "../base/util/clock.ts";
import type { PeopleUsage } from "../core/access/usage.ts";
import type { View } from "../core/access/view.ts";
import type { WaitingCalls } from "../core/access/waiting-calls.ts";
import type { AuditStore } from "../core/audit/audit-store.ts";
import type { Approve, BeforeCall } from "../core/calls/call-environment.ts";
import type { ApprovalRequest, AskingCall, CallDecision, CallPolicy } from "../core/calls/decide-call.ts";
import type { CallingClient } from "../core/nouns/entry.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { Source } from "../core/nouns/source.ts";
import type { OperationName } from "../core/operations/operations.ts";
import type { Sandbox } from "../core/sandbox/sandbox.ts";
import type { SpentApprovals } from "../core/storage/spent-approvals.ts";
import type { MenuOptions } from "../core/surfaces/menu.ts";
import type { MenuTool } from "../core/surfaces/native-tools.ts";
import type { SurfaceOptions } from "../core/surfaces/surface.ts";
import type { Publish } from "../core/telemetry/events.ts";
import type { CallOptions, Gateway, OperationAnswer } from "./gateway-api.ts";
import type { CatalogNeed } from "./start/availability.ts";

/** Options that only faces set. */
export interface FaceOptions extends CallOptions {
  /** The surface that the caller was shown. Default: `lanes`. */
  readonly surface?: SurfaceOptions;
  /** Names for tools in sentences, instead of the surface's own. */
  readonly words?: ToolNames;
  readonly policy?: Partial<CallPolicy>;
  /** How many hits of an `ask` count as discovered and bring their rules. Further hits are only named. */
  readonly discovers?: number;
  /** Writes the text for the model instead of the operation. The ledger counts this text. */
  readonly toText?: (answer: object) => string;
  readonly client?: CallingClient;
  readonly beforeCall?: BeforeCall;
  /** Runs scripts instead of the gateway's own sandbox. */
  readonly sandbox?: Sandbox;
  /** The plan and session of an answered question, to resume from. */
  readonly resume?: Pick<ApprovalRequest, "resume" | "session">;
  /** How long a call waits for a server that is starting. Default: 10 s. */
  readonly startingMs?: number;
  /** A person reads the answer: ledger, learning, figures and observers ignore it. The audit log does not. */
  readonly forPerson?: true;
}

/** Options of a face that can ask a person between requests. */
export interface AskingOptions extends FaceOptions {
  /**
   * That person's answers, if there are any. A call without an answer ends as a question. If one input makes several
   * calls, pass `approve` instead: repeating the input would make all of them again.
   */
  readonly answers: Approve | undefined;
}

/** A finished call with its answer. Observers in this process get these values; events never have them. */
export interface FinishedCall {
  readonly operation: OperationName;
  readonly answer: object;
  /** Routes and ops of the called entries. */
  readonly targets: readonly string[];
  readonly principal: Principal;
  /** The client's name for itself. */
  readonly client?: string | undefined;
  /** The conversation, as in the event of the call. */
  readonly conversation?: string;
  readonly traceId: string;
  /** `ok`, or the code of the problem. */
  readonly outcome: string;
  /** Tokens of the answer. */
  readonly tokens: number;
  readonly latencyMs: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** Watches the calls of one gateway. Must not throw. */
export interface Observer {
  called(call: FinishedCall): void;
  /** Called when a menu was shown. */
  listed(tools: readonly object[], principal: Principal, client: string | undefined): void;
}

/** The part of a gateway that faces need and applications do not. */
export interface FaceApi {
  readonly approvals: SpentApprovals;
  run<N extends OperationName>(
    name: N,
    input: unknown,
    options: AskingOptions,
  ): Promise<OperationAnswer<N> | AskingCall>;
  run<N extends OperationName>(name: N, input: unknown, options?: FaceOptions): Promise<OperationAnswer<N>>;
  /** Decides about the calls that an input would make, without making them. */
  decide(name: OperationName, input: unknown, options?: FaceOptions): Promise<readonly CallDecision[]>;
  /** The view of a principal (default: the owner) that meets the need. @throws CLOSED after the close. */
  view(need: CatalogNeed, principal?: Principal): Promise<View>;
  /** The menu of a view, with its caller's habits. */
  menuOf(view: View, options: MenuOptions): Promise<readonly MenuTool[]>;
  /** Routes that the caller of a view used before this gateway was asked for its first menu, most often first. */
  habitsOf(view: View): Promise<readonly string[]>;
  readonly clock: Clock;
  readonly publish: Publish;
  /** The audit log, if the gateway has one. */
  readonly audit?: AuditStore | undefined;
  sources(): readonly Source[];
  /** Adds an observer. Returns the function that removes it. */
  observe(observer: Observer): () => void;
  /** Stores unanswered questions, so that a person can answer them in another process. */
  keepQuestions(waiting: WaitingCalls): void;
  /** Questions that wait for a person in any process, if the gateway stores them. */
  keptQuestions(): WaitingCalls | undefined;
  /** Counts and limits all later calls. */
  meter(usage: PeopleUsage): void;
  usage(): PeopleUsage | undefined;
  /** Answers questions when the gateway has no `approve`. Returns the function that stops this. */
  answerQuestions(approve: Approve): () => void;
  /** Stores a text of a face. Returns its handle. */
  keep(text: string, name: string, options?: Pick<CallOptions, "principal" | "session">): Promise<string>;
  /** Counts a menu in the ledger when it is shown again. */
  noteMenu(
    tools: readonly object[],
    options?: Pick<CallOptions, "principal" | "session"> & { readonly clientName?: string | undefined },
  ): Promise<void>;
}

const cores = new WeakMap<Gateway, FaceApi>();

export function withCore(gateway: Gateway, core: FaceApi): Gateway {
  cores.set(gateway, core);
  return gateway;
}

/** @throws INVALID_INPUT for an object that createGateway did not make. */
export function faceApiOf(gateway: Gateway): FaceApi {
  const core = cores.get(gateway);
  if (core) return core;
  throw problem("INVALID_INPUT", {
    operation: "the face",
    reason: "its gateway was not made by createGateway",
  });
}
