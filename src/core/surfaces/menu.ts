import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { z } from "zod";
import { compactSchema } from "../../base/json-schema/fit-schema.ts";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { loadTokenCounter, type TokenCounter } from "../../base/tokens/tokens.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { View } from "../access/view.ts";
import type { Entry } from "../nouns/entry.ts";
import { toJsonPath, toJsonSchema } from "../nouns/json-form.ts";
import { listNames } from "../operations/describe-directory.ts";
import { operationOf } from "../operations/operations.ts";
import { domainRows, writeMap } from "./catalog-map.ts";
import { type MenuTool, type NativeNames, nativeTools, toNativeTool, vendorsRefuse } from "./native-tools.ts";
import { type SurfaceOptions, type SurfaceTool, surfaceTools, wordsOf } from "./surface.ts";

/** The most tokens of a whole menu, for any catalog, except on `native`, which lists the catalog itself. */
const MENU_TOKENS = 900;
const LEAD_CHARS = 110;

/** Surface, shortcuts and tool names of a menu. */
export interface MenuOptions extends ShortcutOptions {
  /** Naming of `native` tools. */
  readonly nativeNames?: NativeNames;
}

/**
 * Lists the tools of a surface. The list depends only on visible domains and on what the caller used before this start,
 * never on discoveries, so prompt caches stay valid. The search tool carries a map of the catalog, as detailed as the
 * budget allows. The token counter is large and loads only when needed.
 */
export async function createMenu(
  view: View,
  options: MenuOptions = {},
  habits: readonly string[] = [],
): Promise<readonly MenuTool[]> {
  const { surface, toolSearch, run, shortcuts, nativeNames } = options;
  if (surface === "native")
    return [...nativeTools(view.shown, nativeNames)].map(([name, entry]) => toNativeTool(name, entry));
  const menus = menusOf(view.shown);
  const key = JSON.stringify([surface, toolSearch, run, shortcuts, view.principal.allowWrite, habits]);
  const menu = menus.get(key) ?? makeMenu(view, options, habits);
  menus.set(key, menu);
  menu.catch(() => menus.delete(key));
  return menu;
}

/** Cached menus by options: every conversation needs one, and counting takes milliseconds. */
const menusOf = memoizeByObject(
  (_shown: readonly Entry[]) => new LRUCache<string, Promise<readonly MenuTool[]>>({ max: MOST_MENUS }),
);
const MOST_MENUS = 64;

async function makeMenu(
  view: View,
  options: MenuOptions,
  habits: readonly string[],
): Promise<readonly MenuTool[]> {
  const offered = surfaceTools(options);
  const asking = offered.findIndex(({ operation }) => operation === "ask");
  const finder = Math.max(0, asking);
  const rows = domainRows(view, habits);
  // Some clients show a model only the beginning of a description.
  const names = listNames(
    rows.map(({ name }) => name),
    LEAD_CHARS,
  );
  const lead = names === "" ? "" : `For ${names}. `;
  const operations = offered.map((tool, at) => {
    const listed = toMenuTool(tool, view);
    return at === finder ? { ...listed, description: `${lead}${listed.description}` } : listed;
  });
  const shortcuts = [...shortcutsOf(view, options)].map(([name, entry]) => toShortcutTool(name, entry));
  // Shortcuts come last, so that operations keep their position in prompt caches.
  const fitting = shortcuts.length === 0 ? 0 : countFitting(operations, shortcuts, await loadTokenCounter());
  const tools = [...operations, ...shortcuts.slice(0, fitting)];
  if (rows.length === 0) return tools;
  const plain = tools[finder]!;
  const heading = ` Behind it, to call by ${wordsOf(options).exec} as domain.name:\n`;
  const withMap = (map: string) =>
    tools.with(finder, { ...plain, description: plain.description + (map && heading + map) });
  const countTokens = await loadTokenCounter();
  let room = MENU_TOKENS - countTokens(JSON.stringify(withMap(" ")));
  while (true) {
    const menu = withMap(room <= 0 ? "" : writeMap(rows, room, countTokens));
    const over = countTokens(JSON.stringify(menu)) - MENU_TOKENS;
    if (over <= 0 || room <= 0) return menu;
    room -= over;
  }
}

/** One tool of the default surface. */
export function menuTool(name: string, view: View): MenuTool {
  return toMenuTool(surfaceTools({}).find((tool) => tool.name === name)!, view);
}

function toMenuTool(tool: SurfaceTool, view: View): MenuTool {
  const { name, operation, purpose, mayWrite, lists = [] } = tool;
  const { title, input, purpose: ownPurpose, readOnly, unlisted = [] } = operationOf(operation);
  const onlyReads = readOnly && !(mayWrite && view.principal.allowWrite);
  return {
    name,
    title,
    description: purpose ?? ownPurpose,
    inputSchema: toInputSchema(
      input,
      unlisted.filter((field) => !lists.includes(field)),
    ),
    annotations: { readOnlyHint: onlyReads, destructiveHint: !onlyReads },
  };
}

function toInputSchema(input: z.ZodType, unlisted: readonly string[]): JsonSchema {
  const schema = compactSchema(toJsonSchema(input));
  const hidden = unlisted.map((field) => toJsonPath(input, [field])[0]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, unknown>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.filter(([name]) => !hidden.includes(name))),
  };
}

interface ShortcutOptions extends SurfaceOptions {
  /**
   * Routes or ops of tools and skills to list as separate tools, most important first. Those beyond the menu's budget
   * are left out; search still finds them.
   */
  readonly shortcuts?: readonly string[];
}

/** Tokens reserved for the map of the catalog. */
const MAP_TOKENS = 60;

/** Shortcuts that a principal can use, by tool name, in the order of the option. */
export function shortcutsOf(view: View, { shortcuts = [], ...surface }: ShortcutOptions): Map<string, Entry> {
  const entries = [...new Set(shortcuts.flatMap((address) => view.find(address) ?? []))];
  const usable = entries.filter(
    ({ kind, lane }) => kind !== "tool" || lane === "read" || view.principal.allowWrite,
  );
  const toolNames = new Set(surfaceTools(surface).map(({ name }) => name));
  return nativeTools(usable, "ops", (name) => toolNames.has(name) || vendorsRefuse(name));
}

/** A shortcut as a tool, with only what a call needs. */
function toShortcutTool(name: string, entry: Entry): MenuTool {
  const { title, annotations, inputSchema } = toNativeTool(name, entry);
  return {
    name,
    title,
    description: toSummary(entry.description),
    inputSchema: compactSchema(inputSchema),
    annotations,
  };
}

/** How many shortcuts fit into the budget with the other tools. */
function countFitting(
  tools: readonly MenuTool[],
  shortcuts: readonly MenuTool[],
  countTokens: TokenCounter,
): number {
  const fits = (count: number) =>
    countTokens(JSON.stringify([...tools, ...shortcuts.slice(0, count)])) + MAP_TOKENS <= MENU_TOKENS;
  let count = 0;
  while (count < shortcuts.length && fits(count + 1)) count += 1;
  return count;
}

const AT_ONCE_MS = 10;

/** Tokens of a list of tools, one line of JSON each. Long lists are counted between other work. */
export const countMenu = memoizeByObject(async (tools: readonly object[]): Promise<number> => {
  const countTokens = await loadTokenCounter();
  let tokens = 0;
  let since = performance.now();
  for (const tool of tools) {
    tokens += countTokens(`${JSON.stringify(tool)}\n`);
    if (performance.now() - since < AT_ONCE_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  return tokens;
});
