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
  /** Names the tools in sentences in place of the surface's own words. */
  readonly words?: ToolNames;
  readonly policy?: Partial<CallPolicy>;
  /** How many hits of an `ask` count as discovered and bring their rules; further hits are only named. */
  readonly discovers?: number;
  /** Writes the answer for the model in a face's own form; the ledger counts that text. */
  readonly toText?: (answer: object) => string;
  readonly client?: CallingClient;
  readonly beforeCall?: BeforeCall;
  /** Runs the script in place of the gateway's own sandbox. */
  readonly sandbox?: Sandbox;
  /** The plan and the session of the question that was answered, to go on from there. */
  readonly resume?: Pick<ApprovalRequest, "resume" | "session">;
  /** How long a call waits for a server that it names and that is starting. Default: 10 s. */
  readonly startingMs?: number;
  /** A person reads the answer: ledger, learning, figures and observers leave it out. The audit log does not. */
  readonly forPerson?: true;
}

/** Options of a face that can ask a person between requests. */
export interface AskingOptions extends FaceOptions {
  /**
   * Answers of that person, if there is one. A call without its answer ends as a question. Several calls of one input
   * ask `approve`, because a repeated input makes them all again.
   */
  readonly answers: Approve | undefined;
}

/** A finished call with its answer. Events never carry these values; observers keep them within the process. */
export interface FinishedCall {
  readonly operation: OperationName;
  readonly answer: object;
  /** Routes and ops that it names. */
  readonly targets: readonly string[];
  readonly principal: Principal;
  /** The name that the client gives of itself. */
  readonly client?: string | undefined;
  /** As in the event of the call. */
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
  /** A menu was shown. */
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
  /** The view of a principal, by default the owner's, as soon as it meets the need. @throws CLOSED after the close. */
  view(need: CatalogNeed, principal?: Principal): Promise<View>;
  /** The menu of a view, with its caller's habits. */
  menuOf(view: View, options: MenuOptions): Promise<readonly MenuTool[]>;
  /** Routes that the caller of a view used before this gateway was asked for its first menu, most often first. */
  habitsOf(view: View): Promise<readonly string[]>;
  readonly clock: Clock;
  readonly publish: Publish;
  /** The log of a gateway that keeps one. */
  readonly audit?: AuditStore | undefined;
  /** The sources in use. */
  sources(): readonly Source[];
  /** Returns a function that stops it. */
  observe(observer: Observer): () => void;
  /** Keeps questions that nobody answers now, so that a person answers them in another process. */
  keepQuestions(waiting: WaitingCalls): void;
  /** Questions that wait for a person in any process, if the gateway keeps them. */
  keptQuestions(): WaitingCalls | undefined;
  /** Counts and limits all calls from now on. */
  meter(usage: PeopleUsage): void;
  usage(): PeopleUsage | undefined;
  /** Answers the questions of a gateway without `approve`. Returns a function that stops it. */
  answerQuestions(approve: Approve): () => void;
  /** Stores a text of a face and returns the handle that reads it. */
  keep(text: string, name: string, options?: Pick<CallOptions, "principal" | "session">): Promise<string>;
  /** Counts a menu that is shown again in the ledger. */
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
