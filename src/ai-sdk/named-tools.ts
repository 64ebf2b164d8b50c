import { LRUCache } from "lru-cache";
import type { View } from "../access/view.ts";
import type { MenuTool } from "../operations/menu.ts";
import { type NativeNames, nativeTools, toNativeTool } from "../operations/native-tools.ts";
import { compactSchema } from "../render/compact-schema.ts";
import type { Entry } from "../schema/entry.ts";

/** What there is in a view to be called by a name of its own. */
export interface NamedTools {
  readonly entries: ReadonlyMap<string, Entry>;
  /** The tools as they are; what a model is shown of them is their `definition`. */
  readonly tools: ReadonlyMap<string, MenuTool>;
  /** Names by route. */
  readonly names: ReadonlyMap<string, string>;
  /** A tool as a model is shown it. */
  definition(name: string): Definition | undefined;
}

export type Definition = Pick<MenuTool, "name" | "title" | "description" | "inputSchema">;

const MOST_SETS = 8;
const known = new WeakMap<readonly Entry[], LRUCache<string, NamedTools>>();

/**
 * The tools and skills of a view by names that every vendor takes and that nobody else has. They are made once
 * for the same entries: a catalog may have thousands, and conversations have many turns.
 */
export function nameTools(view: View, names: NativeNames, taken: ReadonlySet<string>): NamedTools {
  const sets = known.get(view.entries) ?? new LRUCache<string, NamedTools>({ max: MOST_SETS });
  known.set(view.entries, sets);
  const key = JSON.stringify([names, ...[...taken].sort()]);
  const named = sets.get(key) ?? create(view, names, taken);
  sets.set(key, named);
  return named;
}

function create(view: View, names: NativeNames, taken: ReadonlySet<string>): NamedTools {
  // Vendors refuse a whole request for one tool with a dot in its name.
  const entries = nativeTools(view.entries, names, (name) => taken.has(name) || name.includes("."));
  const tools = new Map([...entries].map(([name, entry]) => [name, toNativeTool(name, entry)]));
  const definitions = new Map<string, Definition>();
  return {
    entries,
    tools,
    names: new Map([...entries].map(([name, { route }]) => [route, name])),
    definition: (name) => {
      const tool = tools.get(name);
      if (!tool) return undefined;
      const definition = definitions.get(name) ?? toShown(tool);
      definitions.set(name, definition);
      return definition;
    },
  };
}

/** The gateway checks the input, so a model need not read all that is checked. */
function toShown({ name, title, description, inputSchema }: MenuTool): Definition {
  return { name, title, description, inputSchema: compactSchema(inputSchema) };
}
