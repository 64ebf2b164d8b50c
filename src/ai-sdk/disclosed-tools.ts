import type { ModelMessage, StepResult, ToolSet } from "ai";
import type { FaceOptions } from "../gateway-core.ts";
import type { CallTrace } from "../schema/span-context.ts";
import type { Session } from "../session/session-store.ts";
import type { WorkingMemory } from "../session/working-memory.ts";
import type { NativeNames } from "../surfaces/native-tools.ts";
import type { SdkApprovals } from "./approvals.ts";

/** The parts in which the two modes of disclosure differ. */
export interface DisclosedTools {
  readonly tools: ToolSet;
  /** A tool as a model sees it, for the ledger. */
  definition(name: string): object | undefined;
  readonly instructions: string;
  /** How many tools every step has, before those that it found; absent: all. */
  readonly firstTools?: number;
  /** The names of the tools that a step has; absent: all. */
  active?(
    steps: readonly StepResult<ToolSet>[],
    messages: readonly ModelMessage[],
    memory: WorkingMemory,
  ): string[];
  /** The part of a memory that the shown tools do not contain. */
  lacking(memory: WorkingMemory): WorkingMemory;
  /** Rewrites a call of a tool that the step lacks, so that it can run. */
  repair(call: SdkToolCall): Promise<SdkToolCall | null>;
}

export interface ModeOptions {
  readonly call: FaceOptions;
  /** Absent: the gateway's own `approve` decides. */
  readonly approvals?: SdkApprovals | undefined;
  readonly session: Session;
  /** The trace of the call that runs now. */
  readonly trace?: (() => CallTrace | undefined) | undefined;
  readonly names?: NativeNames;
  /** Names of the application's tools. */
  readonly ownNames: ReadonlySet<string>;
  /** Domains whose tools are there from the start, under their own names. */
  readonly hands?: readonly string[] | undefined;
  /** Names of the tools that earlier turns showed, in their order. They stay, so that the vendor's cache holds. */
  readonly kept?: readonly string[] | undefined;
}

/** A call as the SDK hands it to a repair. */
export interface SdkToolCall {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON, as the model wrote it. */
  readonly input: string;
}

/** The arguments of a call as the model wrote them; undefined unless they are an object. */
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
