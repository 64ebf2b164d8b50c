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
  /** Wider rules, for a person who writes the rules themselves. */
  readonly wider?: readonly string[];
  /** The file that keeps them. */
  readonly keptIn?: string;
  /**
   * The address of a page on which the person answers. The answer to the question says only that they have opened it.
   * Nobody but the caller may be asked.
   */
  readonly opens?: string;
}

/**
 * The answer to a question: approved, approved by somebody whom the audit log names, declined by a person, declined
 * with their words for the model, or false if nobody has answered. `lasts` allows the same again.
 */
export type Approval =
  | boolean
  | "declined"
  | { readonly declined: string }
  | {
      readonly by: string;
      readonly lasts?: "session" | "always";
      /** The rules to keep, if the person has written others than the question's. */
      readonly rules?: readonly string[];
    };

/** Which calls need a person's approval, the fewest first. */
export const ASKS = ["never", "destructive", "writes", "always"] as const;
/**
 * Which calls need a person's approval of exactly that call. `never`: only those of tools with `requiresConfirmation`.
 * `destructive`: also those of every destructive tool. `writes`: also those of every tool that writes. `always`: every
 * call of a tool. Dry runs need none.
 *
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
