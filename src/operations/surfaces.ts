import type { OperationName } from "./operations.ts";

/** Which tools a model is shown; all of them lead to the same operations. */
export const SURFACES = ["lanes", "routes", "commands", "native"] as const;
export type Surface = (typeof SURFACES)[number];

/** One tool of a surface, and the operation that it is. */
export interface SurfaceTool {
  readonly name: string;
  readonly operation: OperationName;
  /** Where the surface makes the operation do something else than its own purpose says. */
  readonly purpose?: string;
  /** Runs tools that write although the operation itself only reads. */
  readonly mayWrite?: true;
  /** Shown only when asked for. */
  readonly optional?: true;
}

/** In the order in which they are listed. `native` has none: its tools are the entries themselves. */
export const SURFACE_TOOLS: Readonly<Record<Surface, readonly SurfaceTool[]>> = {
  lanes: [
    { name: "ask", operation: "ask" },
    { name: "help", operation: "help" },
    { name: "get", operation: "get" },
    { name: "exec", operation: "exec" },
  ],
  routes: [
    { name: "ask", operation: "ask" },
    {
      name: "get",
      operation: "get",
      mayWrite: true,
      purpose:
        "Runs tools and loads documents, skills and prompts by address, several at once. Answers may unveil next routes. Reads stored results by their handle.",
    },
  ],
  commands: [
    { name: "tool_help", operation: "help" },
    { name: "tool_exec", operation: "exec" },
    {
      name: "tool_batch",
      operation: "batch",
      purpose:
        'Runs several tool_help and tool_exec requests in one call, in order or in parallel. An arg {"$result": <index or id>, "path": "/json/pointer"} takes a value from an earlier result.',
    },
    { name: "tool_search", operation: "ask", optional: true },
  ],
  native: [],
};

export interface SurfaceOptions {
  readonly surface?: Surface;
  /** Adds `tool_search` to the `commands` surface. */
  readonly toolSearch?: boolean;
}

export function surfaceTools({ surface = "lanes", toolSearch = false }: SurfaceOptions): SurfaceTool[] {
  return SURFACE_TOOLS[surface].filter((tool) => !tool.optional || toolSearch);
}
