import type { ModelMessage, Schema, StepResult, Tool, ToolSet } from "ai";
import { contentHash } from "../../base/util/content-hash.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";
import type { CallTrace } from "../../core/nouns/span-context.ts";
import { noteAsked, type WorkingMemory } from "../../core/sessions/working-memory.ts";
import type { Session } from "../../core/storage/session-store.ts";
import type { MenuTool, NativeNames } from "../../core/surfaces/native-tools.ts";
import { type FaceOptions, faceApiOf } from "../../gateway/face-api.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { readCall, type ToolAnswer, type ToolCall } from "../../gateway/toolbox.ts";
import { toToolOutput } from "./messages.ts";

export type SdkDefinition = Pick<MenuTool, "title" | "description"> & {
  readonly inputSchema: Schema<unknown>;
};

/** How a tool of the AI SDK reaches the gateway. */
export interface SdkCaller {
  toCall(input: unknown): ToolCall;
  call(call: ToolCall, options: FaceOptions): Promise<ToolAnswer>;
  /** Absent: the gateway's own `approve` decides. */
  readonly approvals?: SdkApprovals | undefined;
  readonly trace?: ModeOptions["trace"];
}

/** Creates a tool of the AI SDK: data for the application, text for the model. */
export function toSdkTool(
  { title, description, inputSchema }: SdkDefinition,
  { toCall, call, approvals, trace }: SdkCaller,
): Tool {
  // Files of tool results have another form in version 6, whose calls have no context.
  let isNewer = false;
  /** The SDK asks about a call and runs it with the same input. */
  const readOnce = memoizeByObject((input: object) => readCall(toCall(input)));
  const callOf = (input: unknown) => (isPlainObject(input) ? readOnce(input) : toCall(input));
  return {
    type: "dynamic",
    title,
    description,
    inputSchema,
    execute: (input, options) => {
      const { abortSignal } = options;
      isNewer ||= "context" in options;
      return call(callOf(input), {
        ...(abortSignal && { signal: abortSignal }),
        ...traced(trace),
        ...approvals?.answersFor(options),
      });
    },
    toModelOutput: ({ output }) => toToolOutput(output as ToolAnswer, isNewer),
    needsApproval: approvals?.needsApproval
      ? (input, options) => approvals.needsApproval!(callOf(input), options)
      : false,
  };
}

/** The option of a call that puts it into the current trace. */
export function traced(trace: ModeOptions["trace"]): Pick<FaceOptions, "trace"> {
  const current = trace?.();
  return current ? { trace: current } : {};
}

/** The parts in which the two modes differ. */
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
  /** Domains whose tools are there from the start, under their own names, or single tools by their ops. */
  readonly hands?: readonly string[] | undefined;
  /** Names of the tools that earlier turns showed, in their order. They stay, so that the vendor's cache holds. */
  readonly kept?: readonly string[] | undefined;
}

/** A call as the SDK hands it to a repair. */
interface SdkToolCall {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON, as the model wrote it. */
  readonly input: string;
}

/** The arguments of a call as the model wrote them; undefined unless they are an object. */
export function argsOf({ input }: SdkToolCall): PlainObject | undefined {
  try {
    const args: unknown = input.trim() === "" ? {} : JSON.parse(input);
    return isPlainObject(args) ? args : undefined;
  } catch {
    return undefined;
  }
}

/** A call of the AI SDK: its id, and the messages before it. */
interface SdkCall {
  readonly toolCallId: string;
  readonly messages: readonly ModelMessage[];
}

/** How the questions of calls are answered. */
export interface SdkApprovals {
  /** Whether the application has to approve a call before it runs. Absent: a person answers while the call runs. */
  needsApproval?(call: ToolCall, sdkCall: SdkCall): Promise<boolean>;
  /** Answers the gateway's questions about a call that runs. */
  answersFor(sdkCall: SdkCall): Pick<FaceOptions, "approve" | "beforeCall">;
}

/**
 * Binds the application's approval to the exact call. The AI SDK runs a call only after its approval, mostly in a
 * later turn, and reads the approval from messages that anybody may have written. The session keeps each question, so
 * an answer to a question that was never asked, or to a tool that has changed since, runs nothing.
 */
export function createSdkApprovals(
  gateway: Gateway,
  options: FaceOptions,
  openSession: () => Promise<Session>,
): SdkApprovals {
  /** The questions that the calls of this turn raise. */
  const judged = new Map<string, readonly string[]>();

  return {
    // Decided once in a turn.
    needsApproval: async ({ operation, input }, { toolCallId, messages }) => {
      const judgedBefore = judged.get(toolCallId);
      if (judgedBefore) return judgedBefore.length > 0;
      const decisions = await faceApiOf(gateway).decide(operation, input, options);
      const questions = decisions.flatMap((decision) =>
        decision.do === "ask" ? [decision.question.hash] : [],
      );
      judged.set(toolCallId, questions);
      // The SDK judges an approved call again before it runs. That is no new question.
      if (questions.length > 0 && !wasAsked(toolCallId, messages)) {
        const marks = questions.map((hash) => markOf(toolCallId, hash));
        await (await openSession()).update((memory) => noteAsked(memory, marks));
      }
      return questions.length > 0;
    },
    answersFor: ({ toolCallId, messages }) => ({
      approve: async ({ hash, asks }) => {
        // The application was not asked about what a running tool asks.
        if (asks) return false;
        if (wasAsked(toolCallId, messages)) {
          const { memory } = await openSession();
          return memory.asked.includes(markOf(toolCallId, hash));
        }
        // A call that was never judged here runs by a rule of the application.
        return judged.get(toolCallId)?.includes(hash) ?? true;
      },
    }),
  };
}

function markOf(toolCallId: string, hash: string): string {
  return contentHash([toolCallId, hash]);
}

/** Whether the messages have a question about the call. */
function wasAsked(toolCallId: string, messages: readonly ModelMessage[]): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "assistant" &&
      typeof content !== "string" &&
      content.some((part) => part.type === "tool-approval-request" && part.toolCallId === toolCallId),
  );
}
