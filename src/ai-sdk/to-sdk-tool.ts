import { dynamicTool, jsonSchema, type Tool } from "ai";
import type { MenuTool } from "../operations/menu.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { ToolAnswer } from "../toolbox.ts";

type Shown = Pick<MenuTool, "title" | "description"> & {
  /** A function is asked when the schema is needed. */
  readonly inputSchema: JsonSchema | (() => JsonSchema);
};

/** A tool of ours as the AI SDK's: data for the application, text for the model. */
export function toSdkTool(
  { title, description, inputSchema }: Shown,
  call: (input: unknown, signal: AbortSignal | undefined) => Promise<ToolAnswer>,
  needsApproval: false | ((input: unknown) => Promise<boolean>) = false,
): Tool {
  return {
    ...dynamicTool({
      title,
      description,
      inputSchema: jsonSchema(inputSchema),
      execute: (input, { abortSignal }) => call(input, abortSignal),
      toModelOutput,
    }),
    needsApproval,
  };
}

function toModelOutput({ output }: { readonly output: unknown }) {
  const { ok, text } = output as ToolAnswer;
  return { type: ok ? ("text" as const) : ("error-text" as const), value: text };
}
