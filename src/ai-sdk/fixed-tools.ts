import { jsonSchema } from "ai";
import type { Gateway } from "../gateway-api.ts";
import { say } from "../schema/say.ts";
import { callOperation, createFaceToolbox, toEntryCall } from "../toolbox.ts";
import { argsOf, type DisclosedTools, type ModeOptions } from "./disclosed-tools.ts";
import { nameTools } from "./named-tools.ts";
import { toSdkTool } from "./to-sdk-tool.ts";

const INSTRUCTIONS = {
  sentences: [
    "Use {ask} to find what can help, then {exec} or {get} to use it.",
    "If you can answer without tools, answer directly.",
  ],
};

/** The tools of the menu, the same on every request. */
export async function createFixedTools(
  gateway: Gateway,
  { call, approvals, trace, names = "names", ownNames, hands = [] }: ModeOptions,
): Promise<DisclosedTools> {
  const toolbox = await createFaceToolbox(gateway, call.principal ? { principal: call.principal } : {});
  const definitions = new Map<string, object>(toolbox.tools.map((tool) => [tool.name, tool]));
  const named = nameTools(await gateway.view(call), {
    names,
    hands,
    taken: ownNames.union(new Set(definitions.keys())),
  });
  // A model that called the tool by its own name is not told the op again.
  const { exec: _, ...withoutExec } = toolbox.words;
  const first = named.hands.map((name) => [
    name,
    toSdkTool(named.sdkDefinitions.get(name)!, {
      toCall: (input) => toEntryCall(named.entries.get(name)!, input),
      call: (wanted, options) => callOperation(gateway, wanted, { ...call, words: withoutExec, ...options }),
      approvals,
      trace,
    }),
  ]);
  for (const name of named.hands) definitions.set(name, named.definition(name)!);
  const tools = toolbox.tools.map((tool) => [
    tool.name,
    toSdkTool(
      { ...tool, inputSchema: jsonSchema(tool.inputSchema) },
      {
        toCall: (input) => toolbox.toCall(tool.name, input)!,
        call: ({ input }, options) => toolbox.call(tool.name, input, { ...call, ...options }),
        approvals,
        trace,
      },
    ),
  ]);
  return {
    tools: Object.fromEntries([...first, ...tools]),
    definition: (name) => definitions.get(name),
    instructions: say(INSTRUCTIONS, toolbox.words),
    lacking: (memory) => memory,
    repair: async (toolCall) => {
      const named = (await gateway.view(call)).find(toolCall.toolName);
      const args = argsOf(toolCall);
      if (!named || !args) return null;
      const reads = named.kind !== "tool" || named.lane === "read";
      const input = reads ? { routes: [{ route: named.route, params: args }] } : { op: named.op, args };
      const toolName = reads ? toolbox.words.get : toolbox.words.exec;
      return toolName === undefined ? null : { ...toolCall, toolName, input: JSON.stringify(input) };
    },
  };
}
