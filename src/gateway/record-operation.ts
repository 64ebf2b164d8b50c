import { randomUUID } from "node:crypto";
import { contentHash } from "../base/util/content-hash.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { OperationName } from "../core/operations/operations.ts";
import type { CallSession } from "../core/storage/session-store.ts";
import { argumentShape, beginSpan, inConversation, type Publish } from "../core/telemetry/events.ts";
import type { FaceOptions, Observer } from "./face-api.ts";

/** The record of one operation, for its event and for observers. It never has argument values. */
export type OperationRecord = ReturnType<typeof beginRecord>;

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
  { trace: given, forPerson }: FaceOptions,
  observers: ReadonlySet<Observer>,
  publish: Publish,
) {
  const started = performance.now();
  const startedAt = Date.now();
  const id = randomUUID();
  const traceId = `tr_${id}`;
  const { span, trace } = beginSpan(given, publish, id);
  const factsOf = (outcome: string, targets: readonly string[], session: CallSession | undefined) => {
    const conversation = conversationIn(trace, session);
    const latencyMs = performance.now() - started;
    const named = conversation !== undefined && { conversation };
    return { operation, targets, ...named, traceId, latencyMs, outcome, startedAt };
  };
  return {
    traceId,
    /** The trace to pass on, within the conversation of the session. */
    traceIn: (session: CallSession | undefined): FaceOptions["trace"] => {
      const conversation = conversationIn(trace, session);
      return span && trace ? inConversation(trace, span, publish, conversation) : trace;
    },
    /** Returns the function that reports the call, as it is now, to observers once its tokens are counted. */
    observed: (
      outcome: string,
      answer: object,
      { targets, session }: Pick<RecordedAnswer, "targets" | "session">,
    ) => {
      if (forPerson || observers.size === 0) return undefined;
      const facts = factsOf(outcome, targets, session);
      return (tokens: number) => {
        for (const observer of observers) observer.called({ ...facts, tokens, principal, answer });
      };
    },
    end: (outcome: string, tokens: number, { targets, session, poison } = NOT_READ): void => {
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
