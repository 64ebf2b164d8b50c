/** A question of a running tool. Show every text whole and unchanged. */
export interface ToolQuestion {
  /** The permission or kind of thing in question. */
  readonly scope: string;
  /** Exactly what the tool is about to do. */
  readonly action: string;
  readonly reason: string;
  /** Changes of a file as a unified diff. */
  readonly diff?: string;
  /** Rules to save if the person always allows this. Empty if that is not offered. */
  readonly always: readonly string[];
  /** Wider rules, for a person who edits the rules. */
  readonly wider?: readonly string[];
  /** File that stores them. */
  readonly keptIn?: string;
  /** Page on which the person answers; the answer here only says that it was opened. Only the caller may be asked. */
  readonly opens?: string;
}

/**
 * The answer to a question: approved, approved by a person whom the audit log names, declined by a person, declined
 * with their words for the model, or false without an answer. `lasts` allows the same again.
 */
export type Approval =
  | boolean
  | "declined"
  | { readonly declined: string }
  | {
      readonly by: string;
      readonly lasts?: "session" | "always";
      /** The rules to save, if the person wrote other rules than the question's. */
      readonly rules?: readonly string[];
    };

/** Which calls need a person's approval, from fewest to most. */
export const ASKS = ["never", "destructive", "writes", "always"] as const;
/**
 * Which calls need a person's approval of exactly that call. `never`: only tools with `requiresConfirmation`.
 * `destructive`: also every destructive tool. `writes`: also every tool that writes. `always`: every tool. Dry runs
 * need none.
 * @example
 * ```ts
 * import { createGateway, defineDomain, defineTool } from "keyhole";
 *
 * const add = defineTool({ name: "add", op: "notes.add", description: "Add a note.", execute: () => "added" });
 * const notes = defineDomain({ name: "notes", description: "Notes.", tools: [add] });
 * const gateway = createGateway({
 *   domains: [notes],
 *   principal: { id: "me", scopes: [], allowWrite: true },
 *   ask: "writes",
 *   approve: ({ op }) => op === "notes.add",
 * });
 * console.assert((await gateway.exec({ op: "notes.add" })).ok);
 * await gateway.close();
 * ```
 */
export type AskBefore = (typeof ASKS)[number];
