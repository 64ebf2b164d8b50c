import type { StructuredToolInterface } from "@langchain/core/tools";
import type { Gateway } from "../gateway-api.ts";
import { blocksOf } from "../operations/blocks-of.ts";
import { problem } from "../schema/problem.ts";
import { createToolbox, type ToolboxOptions } from "../toolbox.ts";

/**
 * Creates the tools of a gateway for LangChain. Needs the package `@langchain/core`. See {@link createToolbox}.
 *
 * @throws PACKAGE_MISSING without `@langchain/core`
 * @example
 * ```ts no-run
 * import { createGateway, toLangChainTools } from "keyhole";
 *
 * const gateway = createGateway({ domains: [] });
 * const tools = await toLangChainTools(gateway);
 * console.log(tools.map((tool) => tool.name));
 * ```
 */
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
          const answer = await toolbox.call(name, args, config?.signal && { signal: config.signal });
          const images = blocksOf(answer.data).flatMap((block) =>
            block.type === "image" ? [`data:${block.mimeType};base64,${block.data}`] : [],
          );
          if (images.length === 0) return answer.text;
          const parts = images.map((url) => ({ type: "image_url", image_url: { url } }));
          return [{ type: "text", text: answer.text }, ...parts];
        },
      }),
  );
}
