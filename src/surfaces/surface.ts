import { OPERATIONS, type OperationName } from "../operations/operations.ts";
import type { Role, Words } from "../schema/say.ts";
import type { Surface } from "./surface-names.ts";

/** One tool of a surface, and the operation behind it. */
export interface SurfaceTool {
  readonly name: string;
  readonly operation: OperationName;
  /** Replaces the operation's own purpose. */
  readonly purpose?: string;
  /** Runs tools that write, although the operation itself only reads. */
  readonly mayWrite?: true;
  /** Fields that the operation leaves unlisted and this tool lists. */
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
  /** The tool for each role that this surface has no separate tool for. */
  readonly instead: Readonly<Partial<Record<Role, OperationName>>>;
  /** The field that carries arguments, and the one that asks for a dry run. */
  readonly fields: Pick<Words, "params" | "dry_run">;
  readonly changes?: Readonly<Partial<Record<OperationName, Omit<SurfaceTool, "name" | "operation">>>>;
  /** Operations that are shown only with the option of that name. */
  readonly optional?: Readonly<Partial<Record<OperationName, "toolSearch" | "run">>>;
}

/** The differences between surfaces, apart from tool names. `native` lists the entries themselves. */
const TABLE: Readonly<Record<Surface, SurfaceRow>> = {
  lanes: {
    instead: {},
    fields: { params: "params", dry_run: "dry_run" },
    optional: { run: "run" },
  },
  routes: {
    instead: { help: "ask", exec: "get" },
    fields: { params: "params", dry_run: "dry_run" },
    changes: {
      get: {
        mayWrite: true,
        lists: ["dry_run"],
        purpose:
          "Runs tools and loads documents, skills and prompts by address, several at once. Destructive tools run dry unless dry_run is false. Answers may unveil next routes. Reads stored results by their handle, with params path, grep, select, sort, group or count.",
      },
    },
  },
  commands: {
    instead: { ask: "help", get: "exec" },
    fields: { params: "args", dry_run: "dry_run" },
    optional: { ask: "toolSearch" },
    changes: {
      exec: {
        purpose:
          "Runs one tool, also those that write; loads documents and reads stored results by their address. Destructive tools run dry unless dry_run is false.",
      },
    },
  },
  code: {
    instead: { help: "ask", exec: "run" },
    fields: { params: "params", dry_run: "dry_run" },
  },
  native: { instead: {}, fields: {} },
};

/** The tools of a surface, in the order in which they are listed. */
export function surfaceTools(options: SurfaceOptions): readonly SurfaceTool[] {
  return factsOf(options).tools;
}

/** How a surface names its tools in sentences. */
export function wordsOf(options: SurfaceOptions): Words {
  return factsOf(options).words;
}

interface SurfaceFacts {
  /** The operations that the facts were made from. */
  readonly operations: number;
  readonly tools: readonly SurfaceTool[];
  readonly words: Words;
}

const known = new Map<Surface, Map<number, SurfaceFacts>>();

/** Every call needs these, so they are made once for each surface. */
function factsOf({ surface = "lanes", toolSearch = false, run = false }: SurfaceOptions): SurfaceFacts {
  const optional = (toolSearch ? 1 : 0) + (run ? 2 : 0);
  let operations = 0;
  for (const _ in OPERATIONS) operations += 1;
  const ofSurface = known.get(surface) ?? new Map<number, SurfaceFacts>();
  const facts = ofSurface.get(optional);
  if (facts?.operations === operations) return facts;
  const tools = toTools(surface, { toolSearch, run });
  const made = { operations, tools, words: toWords(surface, tools) };
  known.set(surface, ofSurface.set(optional, made));
  return made;
}

function toTools(
  surface: Surface,
  wanted: { readonly toolSearch: boolean; readonly run: boolean },
): SurfaceTool[] {
  const { optional = {}, changes = {} } = TABLE[surface];
  const named = Object.values(OPERATIONS).flatMap(({ name, names }): SurfaceTool[] => {
    const operation = name as OperationName;
    const tool = (names as Readonly<Record<string, string>>)[surface];
    const option = optional[operation];
    if (tool === undefined || (option && !wanted[option])) return [];
    return [{ name: tool, operation, ...changes[operation] }];
  });
  // Optional tools come last, so that the others keep their places in prompt caches.
  const isAdded = ({ operation }: SurfaceTool) => optional[operation] !== undefined;
  return [...named.filter((tool) => !isAdded(tool)), ...named.filter(isAdded)];
}

function toWords(surface: Surface, tools: readonly SurfaceTool[]): Words {
  const { instead, fields } = TABLE[surface];
  const names = new Map(tools.map(({ name, operation }) => [operation, name]));
  const standing = Object.entries(instead).map(([role, operation]) => [role, names.get(operation)]);
  return { ...Object.fromEntries(standing), ...Object.fromEntries(names), ...fields };
}
