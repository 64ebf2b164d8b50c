import {
  createGateway,
  defineDomain,
  defineTool,
  type Entity,
  type GatewayOptions,
  type Principal,
} from "keyhole";
import { onTestFinished } from "vitest";
import { z } from "zod";

export const ann: Principal = { id: "ann", scopes: [], allowWrite: true };
export const bob: Principal = { id: "bob", scopes: [], allowWrite: true };

export const pages = defineDomain({
  name: "cms",
  description: "Pages and images of a site.",
  rules: { pages: "Search before you create. A slug is used once." },
  entityExtractors: {
    find_resource: (result) => (result as { matches: Entity[] }).matches,
  },
  tools: [
    defineTool({
      name: "get_page",
      description: "Get a page by its id.",
      category: "pages",
      inputSchema: z.object({ id: z.union([z.string(), z.int()]) }),
      extraction: { path: "$root", type: "page", nameField: "name" },
      guidance: [{ route: "cms://tools/page/history", prose: "Who changed it" }],
      execute: ({ id }) => ({ id, name: `Page ${id}` }),
    }),
    defineTool({
      name: "list_pages",
      description: "List all pages.",
      category: "pages",
      extraction: { path: "data.pages", type: "page", nameField: "title", isArray: true },
      execute: () => ({
        data: { pages: Array.from({ length: 3_000 }, (_, id) => ({ id, title: `Title ${id}` })) },
      }),
    }),
    defineTool({
      name: "find_resource",
      description: "Find anything by name.",
      inputSchema: z.object({ matches: z.unknown() }),
      execute: ({ matches }) => ({ matches }),
    }),
    defineTool({
      name: "publish_page",
      description: "Publish a page.",
      category: "pages",
      execute: () => {
        throw new TypeError("nobody is logged in");
      },
    }),
    defineTool({
      route: "cms://tools/page/history",
      name: "Page history",
      description: "All changes of a page.",
      searchable: false,
      execute: () => "none",
    }),
  ],
});

/** Opens a gateway with a session. Both close when the test ends. */
export async function openPages(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({ domains: [pages], principal: ann, ...options });
  onTestFinished(() => gateway.close());
  return { gateway, session: await gateway.openSession() };
}

/** Returns the first result of a get. */
export function textOf({ results }: { results: readonly { ok: boolean }[] }): string {
  return String((results[0] as { data?: { content: unknown } }).data?.content);
}
