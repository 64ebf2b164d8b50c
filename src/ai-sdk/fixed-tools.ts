import type { Gateway } from "../gateway-api.ts";
import { createToolbox } from "../toolbox.ts";
import { argsOf, asksFirst, type DisclosedTools, type ModeOptions } from "./disclosed-tools.ts";
import { toSdkTool } from "./to-sdk-tool.ts";

const INSTRUCTIONS =
  "Use ask to find what can help, then exec or get to use it. If you can answer without tools, answer directly.";

/** The tools of the menu, the same on every request. */
export async function createFixedTools(
  gateway: Gateway,
  { call, byApplication }: ModeOptions,
): Promise<DisclosedTools> {
  const view = await gateway.view(call);
  const toolbox = await createToolbox(gateway, call);

  function needsApproval(input: unknown): boolean {
    const { op, route, dry_run } = (input ?? {}) as { op?: string; route?: string; dry_run?: boolean };
    const entry = view.find(op ?? route ?? "");
    if (!entry || !asksFirst(entry) || dry_run === true) return false;
    // Destructive tools run dry unless told otherwise.
    return dry_run === false || entry.lane !== "destructive";
  }

  const tools = toolbox.tools.map((tool) => [
    tool.name,
    toSdkTool(
      tool,
      (input, signal) => toolbox.call(tool.name, input, signal && { signal }),
      byApplication && tool.name === "exec" && needsApproval,
    ),
  ]);
  return {
    tools: Object.fromEntries(tools),
    definitions: new Map(toolbox.tools.map((tool) => [tool.name, tool])),
    instructions: INSTRUCTIONS,
    lacking: (memory) => memory,
    repair: (toolCall) => {
      const named = view.shown.find(({ name, op }) => [name, op].includes(toolCall.toolName));
      if (!named) return null;
      const reads = named.kind !== "tool" || named.lane === "read";
      const input = reads
        ? { routes: [{ route: named.route, params: argsOf(toolCall) }] }
        : { op: named.op, args: argsOf(toolCall) };
      return { ...toolCall, toolName: reads ? "get" : "exec", input: JSON.stringify(input) };
    },
  };
}
