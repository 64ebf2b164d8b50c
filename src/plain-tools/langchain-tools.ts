import type { StructuredToolInterface } from "@langchain/core/tools";
import type { Gateway } from "../gateway-api.ts";
import { problem } from "../schema/problem.ts";
import { createToolbox, type ToolboxOptions } from "../toolbox.ts";

/** The tools of a gateway for LangChain. Needs `@langchain/core`. */
export async function toLangChainTools(
  gateway: Gateway,
  options?: ToolboxOptions,
): Promise<StructuredToolInterface[]> {
  const { DynamicStructuredTool } = await import("@langchain/core/tools").catch(() => {
    throw problem("PACKAGE_MISSING", { name: "@langchain/core", feature: "toLangChainTools" });
  });
  const toolbox = await createToolbox(gateway, options);
  return toolbox.tools.map(
    ({ name, description, inputSchema }) =>
      new DynamicStructuredTool({
        name,
        description,
        schema: inputSchema as Record<string, unknown>,
        func: async (args, _run, config) => {
          const { text } = await toolbox.call(name, args, config?.signal && { signal: config.signal });
          return text;
        },
      }),
  );
}
