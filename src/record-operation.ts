import { randomUUID } from "node:crypto";
import type { FaceOptions, Observer } from "./gateway-core.ts";
import type { OperationName } from "./operations/operations.ts";
import type { Principal } from "./schema/principal.ts";
import type { CallSession } from "./session/session-store.ts";
import { argumentShape } from "./telemetry/argument-shape.ts";
import { publish } from "./telemetry/events.ts";
import { beginSpan, inConversation } from "./telemetry/trace-context.ts";
import { contentHash } from "./util/content-hash.ts";

/** The record of one operation: its event, and what observers are told. It never has argument values. */
export interface OperationRecord {
  readonly traceId: string;
  /** The trace to pass on, within the conversation of the session. */
  traceIn(session: CallSession | undefined): FaceOptions["trace"];
  end(outcome: string, tokens: number, more?: RecordedAnswer): void;
  /** Tells observers of the call as it is now, once its tokens are counted. Undefined if nobody observes it. */
  observed(
    outcome: string,
    answer: object,
    more: Pick<RecordedAnswer, "targets" | "session">,
  ): ((tokens: number) => void) | undefined;
}

interface RecordedAnswer {
  readonly targets: readonly string[];
  readonly session: CallSession | undefined;
  readonly poison: readonly string[];
}

/** Input that could not be read names no targets. */
const NOT_READ: RecordedAnswer = { targets: [], session: undefined, poison: [] };

/** Begins the record of an operation: it takes the time from here. */
export function beginRecord(
  operation: OperationName,
  principal: Principal,
  input: unknown,
  { trace: given }: FaceOptions,
  observers: ReadonlySet<Observer>,
): OperationRecord {
  const started = performance.now();
  const startedAt = Date.now();
  const id = randomUUID();
  const traceId = `tr_${id}`;
  const { span, trace } = beginSpan(given, id);
  const factsOf = (outcome: string, targets: readonly string[], session: CallSession | undefined) => {
    const conversation = conversationIn(trace, session);
    return {
      operation,
      targets,
      ...(conversation !== undefined && { conversation }),
      traceId,
      latencyMs: performance.now() - started,
      outcome,
      startedAt,
    };
  };
  return {
    traceId,
    traceIn: (session) => {
      const conversation = conversationIn(trace, session);
      return span && trace ? inConversation(trace, span, conversation) : trace;
    },
    observed: (outcome, answer, { targets, session }) => {
      if (observers.size === 0) return undefined;
      const facts = factsOf(outcome, targets, session);
      return (tokens) => {
        for (const observer of observers) observer.called({ ...facts, tokens, principal, answer });
      };
    },
    end: (outcome, tokens, { targets, session, poison } = NOT_READ) => {
      publish({
        type: "operation",
        ...factsOf(outcome, targets, session),
        tokens,
        principal: principal.id,
        ...(poison.length > 0 && { poison }),
        argumentShape: argumentShape(input) as Record<string, unknown>,
        ...(span && { span }),
      });
    },
  };
}

/** A handle opens the session, so only its hash names the conversation. */
function conversationIn(trace: FaceOptions["trace"], session: CallSession | undefined): string | undefined {
  if (trace?.conversation !== undefined) return trace.conversation;
  return session && contentHash(session.handle).slice(0, 16);
}
