import type { Schema, Tool } from "ai";
import type { MenuTool } from "../operations/menu.ts";
import type { ToolAnswer } from "../toolbox.ts";

export type SdkDefinition = Pick<MenuTool, "title" | "description"> & {
  readonly inputSchema: Schema<unknown>;
};

/** A tool of ours as the AI SDK's: data for the application, text for the model. */
export function toSdkTool(
  { title, description, inputSchema }: SdkDefinition,
  call: (input: unknown, signal: AbortSignal | undefined) => Promise<ToolAnswer>,
  needsApproval: false | ((input: unknown) => Promise<boolean>) = false,
): Tool {
  return {
    type: "dynamic",
    title,
    description,
    inputSchema,
    execute: (input, { abortSignal }) => call(input, abortSignal),
    toModelOutput,
    needsApproval,
  };
}

function toModelOutput({ output }: { readonly output: unknown }) {
  const { ok, text } = output as ToolAnswer;
  return { type: ok ? ("text" as const) : ("error-text" as const), value: text };
}
