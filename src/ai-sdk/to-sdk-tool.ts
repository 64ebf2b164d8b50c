import type { Schema, Tool } from "ai";
import type { FaceOptions } from "../gateway-core.ts";
import type { MenuTool } from "../surfaces/menu-tool.ts";
import type { ToolAnswer, ToolCall } from "../toolbox.ts";
import type { SdkApprovals } from "./approvals.ts";
import type { ModeOptions } from "./disclosed-tools.ts";
import { toToolOutput } from "./tool-files.ts";

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
  return {
    type: "dynamic",
    title,
    description,
    inputSchema,
    execute: (input, options) => {
      const { abortSignal } = options;
      isNewer ||= "context" in options;
      return call(toCall(input), {
        ...(abortSignal && { signal: abortSignal }),
        ...traced(trace),
        ...(approvals && { approve: approvals.approveFor(options) }),
      });
    },
    toModelOutput: ({ output }) => toToolOutput(output as ToolAnswer, isNewer),
    needsApproval: approvals ? (input, options) => approvals.needsApproval(toCall(input), options) : false,
  };
}

/** The option of a call that puts it into the current trace. */
export function traced(trace: ModeOptions["trace"]): Pick<FaceOptions, "trace"> {
  const current = trace?.();
  return current ? { trace: current } : {};
}
