import { jsonSchema } from "ai";
import type { Gateway } from "../gateway-api.ts";
import { createToolbox } from "../toolbox.ts";
import { operationAsksFirst } from "./approvals.ts";
import { argsOf, type DisclosedTools, type ModeOptions } from "./disclosed-tools.ts";
import { toSdkTool } from "./to-sdk-tool.ts";

const INSTRUCTIONS =
  "Use ask to find what can help, then exec or get to use it. If you can answer without tools, answer directly.";

/** The tools of the menu, the same on every request. */
export async function createFixedTools(
  gateway: Gateway,
  { call, byApplication }: ModeOptions,
): Promise<DisclosedTools> {
  const toolbox = await createToolbox(gateway, { ...call, ...(byApplication && { approve: () => true }) });
  const definitions = new Map(toolbox.tools.map((tool) => [tool.name, tool]));
  const tools = toolbox.tools.map((tool) => [
    tool.name,
    toSdkTool(
      { ...tool, inputSchema: jsonSchema(tool.inputSchema) },
      (input, signal) => toolbox.call(tool.name, input, signal && { signal }),
      byApplication && (async (input) => operationAsksFirst(tool.name, input, await gateway.view(call))),
    ),
  ]);
  return {
    tools: Object.fromEntries(tools),
    definition: (name) => definitions.get(name),
    instructions: INSTRUCTIONS,
    lacking: (memory) => memory,
    repair: async (toolCall) => {
      const named = (await gateway.view(call)).find(toolCall.toolName);
      const args = argsOf(toolCall);
      if (!named || !args) return null;
      const reads = named.kind !== "tool" || named.lane === "read";
      const input = reads ? { routes: [{ route: named.route, params: args }] } : { op: named.op, args };
      return { ...toolCall, toolName: reads ? "get" : "exec", input: JSON.stringify(input) };
    },
  };
}
