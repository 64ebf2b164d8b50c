import { randomUUID } from "node:crypto";
import { contentHash } from "../base/util/content-hash.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { OperationName } from "../core/operations/operations.ts";
import type { CallSession } from "../core/storage/session-store.ts";
import { argumentShape, publish } from "../core/telemetry/events.ts";
import { beginSpan, inConversation } from "../core/telemetry/trace-context.ts";
import type { FaceOptions, Observer } from "./face-api.ts";

/** The record of one operation, for its event and for observers. It never has argument values. */
export interface OperationRecord {
  readonly traceId: string;
  /** The trace to pass on, within the conversation of the session. */
  traceIn(session: CallSession | undefined): FaceOptions["trace"];
  end(outcome: string, tokens: number, more?: RecordedAnswer): void;
  /** Returns the function that reports the call, as it is now, to observers once its tokens are counted. Undefined without observers. */
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
