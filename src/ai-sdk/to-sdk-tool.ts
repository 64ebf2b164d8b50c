import { dynamicTool, jsonSchema, type Tool } from "ai";
import type { MenuTool } from "../operations/menu.ts";
import type { ToolAnswer } from "../toolbox.ts";

/** A tool of ours as the AI SDK's: data for the application, text for the model. */
export function toSdkTool(
  { title, description, inputSchema }: Pick<MenuTool, "title" | "description" | "inputSchema">,
  call: (input: unknown, signal: AbortSignal | undefined) => Promise<ToolAnswer>,
  needsApproval: boolean | ((input: unknown) => boolean) = false,
): Tool {
  return {
    ...dynamicTool({
      title,
      description,
      inputSchema: jsonSchema(inputSchema),
      execute: (input, { abortSignal }) => call(input, abortSignal),
      toModelOutput: ({ output }) => {
        const { ok, text } = output as ToolAnswer;
        return { type: ok ? "text" : "error-text", value: text };
      },
    }),
    needsApproval,
  };
}
