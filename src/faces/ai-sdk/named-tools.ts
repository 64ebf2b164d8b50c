import { jsonSchema } from "ai";
import { LRUCache } from "lru-cache";
import { compactSchema } from "../../base/json-schema/fit-schema.ts";
import { lazy } from "../../base/util/lazy.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import type { View } from "../../core/access/view.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import {
  type NativeNames,
  nativeTools,
  toNativeTool,
  vendorsRefuse,
} from "../../core/surfaces/native-tools.ts";
import type { SdkDefinition } from "./sdk-tool.ts";
import { TOOL_SEARCH } from "./tool-search.ts";

/** The entries of a view that can be called by their own names. */
export type NamedTools = ReturnType<typeof create>;

export const GET = "get";
/** Names of Keyhole's own tools, which no entry may take. */
export const FOUND_NAMES = [TOOL_SEARCH, GET];

const MOST_SETS = 8;
const setsOf = memoizeByObject(
  (_entries: readonly Entry[]): LRUCache<string, NamedTools> => new LRUCache({ max: MOST_SETS }),
);

/** Names that entries may not take, and the domains whose entries choose their names first. */
export interface Naming {
  readonly names: NativeNames;
  readonly taken: ReadonlySet<string>;
  readonly hands: readonly string[];
}

/**
 * Names the tools and skills of a view with names that every vendor accepts and no application tool has. The result
 * is cached for the same entries, because catalogs are large and conversations have many turns.
 */
export function nameTools(view: View, naming: Naming): NamedTools {
  const sets = setsOf(view.entries);
  const { names, taken, hands } = naming;
  const key = JSON.stringify([names, hands, [...taken].sort()]);
  const named = sets.get(key) ?? create(view, naming);
  sets.set(key, named);
  return named;
}

function create(view: View, { names, taken, hands }: Naming) {
  const isHand = ({ domain, op = "" }: Entry) => hands.includes(domain) || hands.includes(op);
  const isRefused = (name: string) => taken.has(name) || vendorsRefuse(name);
  const first = nativeTools(view.entries.filter(isHand), names, isRefused);
  const others = nativeTools(
    view.entries.filter((entry) => !isHand(entry)),
    names,
    (name) => first.has(name) || isRefused(name),
  );
  const entries = [...first, ...others];
  return {
    tools: new Map(entries.map(([name, entry]) => [name, toNamedTool(name, entry)])),
    /** Names by route. */
    names: new Map(entries.map(([name, { route }]) => [route, name])),
    /** Names of the tools that are there from the start. */
    hands: [...first.keys()],
  };
}

function toNamedTool(name: string, entry: Entry) {
  const { title, description, inputSchema } = toNativeTool(name, entry);
  /** The tool as a model sees it. The gateway checks the input, so the schema is compact. */
  const definition = lazy(() => ({ name, title, description, inputSchema: compactSchema(inputSchema) }));
  const sdk: SdkDefinition = { title, description, inputSchema: jsonSchema(() => definition().inputSchema) };
  return { entry, sdk, definition };
}
