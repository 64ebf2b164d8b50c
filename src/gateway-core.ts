import type { CallDecision, CallPolicy } from "./calls/decide-call.ts";
import type { CallOptions, Gateway, OperationAnswer } from "./gateway-api.ts";
import type { OperationName } from "./operations/operations.ts";
import type { CallingClient } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import { problem } from "./schema/problem.ts";
import type { Words } from "./schema/say.ts";
import type { SpentApprovals } from "./session/spent-approvals.ts";
import type { SurfaceOptions } from "./surfaces/surface.ts";
import type { Clock } from "./util/clock.ts";

/** Options that only faces set. */
export interface FaceOptions extends CallOptions {
  /** The surface that the caller was shown. Default: `lanes`. */
  readonly surface?: SurfaceOptions;
  /** Names the tools in sentences in place of the surface's own words. */
  readonly words?: Words;
  readonly policy?: Partial<CallPolicy>;
  /** How many hits of an `ask` count as discovered and bring their rules; the others are only named. */
  readonly discovers?: number;
  /** Writes the answer for the model in a face's own form; the ledger counts that text. */
  readonly toText?: (answer: object) => string;
  readonly client?: CallingClient;
  /** The handle that the question of an earlier round left, to go on from there. */
  readonly resume?: string;
}

/** The part of a gateway that faces need and applications do not. */
export interface GatewayCore {
  readonly approvals: SpentApprovals;
  run<N extends OperationName>(name: N, input: unknown, options?: FaceOptions): Promise<OperationAnswer<N>>;
  /** Decides about the calls that an input would make, without making them. */
  decide(name: OperationName, input: unknown, options?: FaceOptions): Promise<readonly CallDecision[]>;
  /** Waits a while for the servers of this principal that are still starting. */
  allStarted(principal: Principal): Promise<void>;
  readonly clock: Clock;
  /** Stores a text of a face and returns the handle that reads it. */
  keep(text: string, name: string, options?: Pick<CallOptions, "principal" | "session">): Promise<string>;
  /** Counts a menu that is shown again in the ledger. */
  noteMenu(tools: readonly object[], options?: Pick<CallOptions, "principal" | "session">): Promise<void>;
}

const cores = new WeakMap<Gateway, GatewayCore>();

export function withCore(gateway: Gateway, core: GatewayCore): Gateway {
  cores.set(gateway, core);
  return gateway;
}

/** @throws INVALID_INPUT for an object that createGateway did not make. */
export function coreOf(gateway: Gateway): GatewayCore {
  const core = cores.get(gateway);
  if (core) return core;
  throw problem("INVALID_INPUT", {
    operation: "the face",
    reason: "its gateway was not made by createGateway",
  });
}
