import type {
  AnyTool,
  DomainDefinition,
  InputSchema,
  ResourceDefinition,
  ToolDefinition,
} from "./definition.ts";

/**
 * Defines a tool. `inputSchema` types the params of `execute`. See {@link defineDomain}.
 *
 * @example
 * ```ts
 * import { defineTool } from "keyhole";
 * import { z } from "zod";
 *
 * const add = defineTool({
 *   name: "add_numbers",
 *   description: "Add two numbers.",
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   outputSchema: z.object({ sum: z.number() }),
 *   execute: ({ a, b }) => ({ sum: a + b }),
 * });
 * console.assert(add.name === "add_numbers");
 * ```
 */
export function defineTool<
  const S extends InputSchema | undefined = undefined,
  const N extends string = string,
  const A extends string = string,
>(tool: ToolDefinition<S, N, A>): ToolDefinition<S, N, A> {
  return tool;
}

/**
 * Defines a resource: content that is loaded on demand. See {@link defineDomain}.
 *
 * @example
 * ```ts
 * import { createGateway, defineDomain, defineResource } from "keyhole";
 *
 * const terms = defineResource({
 *   name: "Refund terms",
 *   description: "When money is given back.",
 *   route: "shop://resources/refunds",
 *   fetch: () => "Within 30 days.",
 * });
 * const shop = defineDomain({ name: "shop", description: "An online shop.", resources: [terms] });
 * const gateway = createGateway({ domains: [shop] });
 * const { text } = await gateway.get({ routes: [{ route: "shop://resources/refunds" }] });
 * console.assert(text.includes("Within 30 days."));
 * await gateway.close();
 * ```
 */
export function defineResource(resource: ResourceDefinition): ResourceDefinition {
  return resource;
}

/**
 * Defines a domain: a named branch of knowledge with its tools and resources. See {@link defineTool} and
 * {@link createGateway}.
 *
 * @example
 * ```ts
 * import { defineDomain, defineTool } from "keyhole";
 *
 * const greet = defineTool({ name: "greet", description: "Say hello.", execute: () => "Hello" });
 * defineDomain({ name: "office", description: "Office life.", tools: [greet] });
 * ```
 */
export function defineDomain<
  const N extends string = string,
  const T extends readonly AnyTool[] = readonly AnyTool[],
>(domain: DomainDefinition<N, T>): DomainDefinition<N, T> {
  return domain;
}
