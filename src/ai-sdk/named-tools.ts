import { jsonSchema } from "ai";
import { LRUCache } from "lru-cache";
import type { View } from "../access/view.ts";
import { compactSchema } from "../render/compact-schema.ts";
import type { Entry } from "../schema/entry.ts";
import type { MenuTool } from "../surfaces/menu-tool.ts";
import { type NativeNames, nativeTools, toNativeTool, vendorsRefuse } from "../surfaces/native-tools.ts";
import type { SdkDefinition } from "./to-sdk-tool.ts";
import { TOOL_SEARCH } from "./tool-search.ts";

/** The entries of a view that can be called by their own names. */
export interface NamedTools {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly sdkDefinitions: ReadonlyMap<string, SdkDefinition>;
  /** Names by route. */
  readonly names: ReadonlyMap<string, string>;
  /** A tool as a model sees it. */
  definition(name: string): Definition | undefined;
}

export type Definition = Pick<MenuTool, "name" | "title" | "description" | "inputSchema">;

export const GET = "get";
/** Names of Keyhole's own tools, which no entry may take. */
export const FOUND_NAMES = [TOOL_SEARCH, GET];

const MOST_SETS = 8;
const known = new WeakMap<readonly Entry[], LRUCache<string, NamedTools>>();

/**
 * Names the tools and skills of a view with names that every vendor accepts and no application tool has. The result
 * is cached for the same entries, because catalogs are large and conversations have many turns.
 */
export function nameTools(view: View, names: NativeNames, ownNames: ReadonlySet<string>): NamedTools {
  const sets = known.get(view.entries) ?? new LRUCache<string, NamedTools>({ max: MOST_SETS });
  known.set(view.entries, sets);
  const key = JSON.stringify([names, ...[...ownNames].sort()]);
  const named = sets.get(key) ?? create(view, names, ownNames.union(new Set(FOUND_NAMES)));
  sets.set(key, named);
  return named;
}

function create(view: View, names: NativeNames, taken: ReadonlySet<string>): NamedTools {
  const entries = nativeTools(view.entries, names, (name) => taken.has(name) || vendorsRefuse(name));
  const tools = new Map([...entries].map(([name, entry]) => [name, toNativeTool(name, entry)]));
  const definitions = new Map<string, Definition>();
  const definition = (name: string) => {
    const tool = tools.get(name);
    if (!tool) return undefined;
    const shown = definitions.get(name) ?? toShown(tool);
    definitions.set(name, shown);
    return shown;
  };
  return {
    entries,
    sdkDefinitions: new Map(
      [...tools].map(([name, { title, description }]) => [
        name,
        { title, description, inputSchema: jsonSchema(() => definition(name)!.inputSchema) },
      ]),
    ),
    names: new Map([...entries].map(([name, { route }]) => [route, name])),
    definition,
  };
}

/** The gateway checks the input, so the model reads a compact schema. */
function toShown({ name, title, description, inputSchema }: MenuTool): Definition {
  return { name, title, description, inputSchema: compactSchema(inputSchema) };
}
