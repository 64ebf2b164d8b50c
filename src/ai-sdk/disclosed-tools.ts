import type { ModelMessage, StepResult, ToolCallRepairFunction, ToolSet } from "ai";
import type { CallOptions } from "../gateway-api.ts";
import type { NativeNames } from "../operations/native-tools.ts";
import type { Session } from "../session/session-store.ts";
import type { WorkingMemory } from "../session/working-memory.ts";

/** What the two modes of disclosure differ in. */
export interface DisclosedTools {
  readonly tools: ToolSet;
  /** A tool as a model is shown it, for the ledger. */
  definition(name: string): object | undefined;
  readonly instructions: string;
  /** Which of the tools a step has; absent: all. */
  active?(steps: readonly StepResult<ToolSet>[], messages: readonly ModelMessage[]): string[];
  /** What a model has to be told of a memory, beside the tools that it is shown. */
  lacking(memory: WorkingMemory): WorkingMemory;
  /** A call of what is not among the tools of the step, put so that it can be made. */
  repair(call: SdkToolCall): Promise<SdkToolCall | null>;
}

export interface ModeOptions {
  readonly call: CallOptions;
  /** The application approves calls, by the AI SDK's own means. */
  readonly byApplication: boolean;
  readonly session: Session;
  readonly names?: NativeNames;
  /** Names that the application's own tools have. */
  readonly ownNames: ReadonlySet<string>;
}

export type SdkToolCall = Parameters<ToolCallRepairFunction<ToolSet>>[0]["toolCall"];

/** The arguments of a call as the model wrote them; nothing where they are no object. */
export function argsOf({ input }: SdkToolCall): Record<string, unknown> | undefined {
  try {
    const args: unknown = input.trim() === "" ? {} : JSON.parse(input);
    return typeof args === "object" && args !== null && !Array.isArray(args)
      ? (args as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
