/** A question of a running tool. Show every text whole and unchanged. */
export interface ToolQuestion {
  /** The permission or the kind of thing that it is about. */
  readonly scope: string;
  /** Exactly what the tool is about to do. */
  readonly action: string;
  readonly reason: string;
  /** The change of a file as a unified diff. */
  readonly diff?: string;
  /** The rules that are kept if the person allows it always; empty if that is not offered. */
  readonly always: readonly string[];
  /** The file that keeps them. */
  readonly keptIn?: string;
}

/**
 * The answer to a question: approved, approved by somebody whom the audit log names, declined by a person, declined
 * with their words for the model, or false if nobody has answered. `lasts` allows the same again.
 */
export type Approval =
  | boolean
  | "declined"
  | { readonly declined: string }
  | { readonly by: string; readonly lasts?: "session" | "always" };
