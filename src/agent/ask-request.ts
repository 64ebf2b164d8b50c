import type { SpanContext } from "./agent-event.ts";
import type { PermissionAnswer } from "./permissions/permissions.ts";

export type AskAnswer = PermissionAnswer;

/** A question to a person. Show every text whole and unchanged. */
export interface AskRequest {
  readonly span: SpanContext;
  readonly callId: string;
  /** `fs-read`, `fs-write`, `fs-delete`, `shell-run`, or `tool` for a call that needs approval. */
  readonly scope: string;
  /** The exact action. */
  readonly action: string;
  readonly reason: string;
  /** The rules that `always` saves; without any, `always` counts as `session`. */
  readonly always: readonly string[];
  /** The place that `always` saves them to. */
  readonly keptIn?: string;
  /** The change of a file as a unified diff. */
  readonly diff?: string;
}

/** Asks a person. Without it, every question is answered with deny. */
export type Ask = (request: AskRequest, signal: AbortSignal) => Promise<AskAnswer>;
