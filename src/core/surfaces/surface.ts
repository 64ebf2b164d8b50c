import type { Role, ToolNames } from "../../base/problems/format-message.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { OPERATIONS, type OperationName } from "../operations/operations.ts";
import type { Surface } from "./surface-names.ts";

/** One tool of a surface, and the operation behind it. */
export interface SurfaceTool {
  readonly name: string;
  readonly operation: OperationName;
  /** Replaces the operation's own purpose. */
  readonly purpose?: string;
  /** Whether it runs tools that write although the operation only reads. */
  readonly mayWrite?: true;
  /** Fields that this tool lists and the operation does not. */
  readonly lists?: readonly string[];
}

export interface SurfaceOptions {
  readonly surface?: Surface;
  /** Adds `tool_search` to the `commands` surface. */
  readonly toolSearch?: boolean;
  /** Adds `run` to the `lanes` surface. */
  readonly run?: boolean;
}

interface SurfaceRow {
  /** The tool that serves each role without its own tool. */
  readonly instead: Readonly<Partial<Record<Role, OperationName>>>;
  /** The fields for arguments and for a dry run, and whether tools are named by op. */
  readonly fields: Pick<ToolNames, "params" | "dry_run" | "ops">;
  readonly changes?: Readonly<Partial<Record<OperationName, Omit<SurfaceTool, "name" | "operation">>>>;
  /** Operations that need the option of this name. */
  readonly optional?: Readonly<Partial<Record<OperationName, "toolSearch" | "run">>>;
}

const DRY_RUN = { dry_run: "dry_run: true" };

/** Differences between surfaces, besides tool names. `native` lists the entries themselves. */
const TABLE: Readonly<Record<Surface, SurfaceRow>> = {
  lanes: {
    instead: {},
    fields: { params: "params", ...DRY_RUN },
    optional: { run: "run" },
  },
  routes: {
    instead: { help: "ask", exec: "get" },
    fields: { params: "params", ...DRY_RUN },
    changes: {
      get: {
        mayWrite: true,
        lists: ["dryRun"],
        purpose:
          "Runs tools and loads documents, skills and prompts by address, several at once. A person is asked before a destructive tool runs. Answers may unveil next routes. Reads stored results by their handle, with params path, grep, select, sort, group or count.",
      },
    },
  },
  commands: {
    instead: { ask: "help", get: "exec" },
    fields: { params: "args", ...DRY_RUN, ops: true },
    optional: { ask: "toolSearch" },
    changes: {
      exec: {
        purpose:
          "Runs one tool, also those that write; loads documents and reads stored results by their address. A person is asked before a destructive tool runs.",
      },
    },
  },
  code: {
    instead: { help: "ask", exec: "run" },
    fields: { params: "params", ...DRY_RUN },
  },
  native: { instead: {}, fields: {} },
};

/** The tools of a surface in listing order. Cached because every call needs them: `bench overhead`. */
export const surfaceTools: (options: SurfaceOptions) => readonly SurfaceTool[] = memoizeByObject(
  (options) => {
    const { surface = "lanes" } = options;
    const { optional = {}, changes = {} } = TABLE[surface];
    const named = Object.values(OPERATIONS).flatMap(({ name, names }): SurfaceTool[] => {
      const operation = name as OperationName;
      const tool = (names as Readonly<Record<string, string>>)[surface];
      const option = optional[operation];
      if (tool === undefined || (option && !options[option])) return [];
      return [{ name: tool, operation, ...changes[operation] }];
    });
    // Optional tools come last, so that the usual tools keep their position in prompt caches.
    const isAdded = ({ operation }: SurfaceTool) => optional[operation] !== undefined;
    return [...named.filter((tool) => !isAdded(tool)), ...named.filter(isAdded)];
  },
);

/** Names of a surface's tools in sentences. */
export const wordsOf: (options: SurfaceOptions) => ToolNames = memoizeByObject((options) => {
  const { instead, fields } = TABLE[options.surface ?? "lanes"];
  const names = new Map(surfaceTools(options).map(({ name, operation }) => [operation, name]));
  const standing = Object.entries(instead).map(([role, operation]) => [role, names.get(operation)]);
  return { ...Object.fromEntries(standing), ...Object.fromEntries(names), ...fields };
});
