import type { ModelMessage, StepResult, ToolCallRepairFunction, ToolSet } from "ai";
import type { CallOptions } from "../gateway-api.ts";
import type { NativeNames } from "../operations/native-tools.ts";
import type { Entry } from "../schema/entry.ts";
import type { Session } from "../session/session-store.ts";
import type { WorkingMemory } from "../session/working-memory.ts";

/** What the two modes of disclosure differ in. */
export interface DisclosedTools {
  readonly tools: ToolSet;
  /** The tools as a model is shown them, for the ledger. */
  readonly definitions: ReadonlyMap<string, object>;
  readonly instructions: string;
  /** Which of the tools a step has; absent: all. */
  active?(steps: readonly StepResult<ToolSet>[], messages: readonly ModelMessage[]): string[];
  /** What a model has to be told of a memory, beside the tools that it is shown. */
  lacking(memory: WorkingMemory): WorkingMemory;
  /** A call of what is not among the tools of the step, put so that it can be made. */
  repair(call: SdkToolCall): SdkToolCall | null;
}

export interface ModeOptions {
  readonly call: CallOptions;
  readonly session: Session;
  /** The application approves calls, by the AI SDK's own means. */
  readonly byApplication: boolean;
  readonly names?: NativeNames;
}

export type SdkToolCall = Parameters<ToolCallRepairFunction<ToolSet>>[0]["toolCall"];

/** Calls that somebody has to approve first. */
export function asksFirst(entry: Entry): boolean {
  return entry.kind === "tool" && (entry.requiresConfirmation || entry.lane === "destructive");
}

/** The arguments of a call as the model wrote them; none where they cannot be read. */
export function argsOf({ input }: SdkToolCall): Record<string, unknown> {
  try {
    return JSON.parse(input) ?? {};
  } catch {
    return {};
  }
}
