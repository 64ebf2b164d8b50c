import { setImmediate } from "node:timers/promises";
import type { z } from "zod";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { compactSchema } from "../../base/json-schema/walk-schema.ts";
import { fitPieces, type Piece } from "../../base/tokens/fit-pieces.ts";
import { loadTokenCounter, type TokenCounter } from "../../base/tokens/tokens.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { View } from "../access/view.ts";
import type { Entry } from "../nouns/entry.ts";
import { domainsBySize, entriesByDomain, listNames } from "../operations/describe-directory.ts";
import { toJsonPath, toJsonSchema } from "../operations/json-names.ts";
import { operationOf } from "../operations/operations.ts";
import { type MenuTool, type NativeNames, nativeTools, toNativeTool, vendorsRefuse } from "./native-tools.ts";
import { type SurfaceOptions, type SurfaceTool, surfaceTools } from "./surface.ts";

/** The most that a whole menu may cost, for any catalog, except on `native`, which lists the catalog itself. */
const MENU_TOKENS = 900;
const TOP_VERBS = 3;
const LEAD_CHARS = 90;
/** A lead that needs no map after it may be longer. */
const WHOLE_LEAD_CHARS = 110;
const HEADING = " Behind it:";
const MORE = ", and more domains";

/** The surface of a menu, its shortcuts and the names of its tools. */
export interface MenuOptions extends ShortcutOptions {
  /** How `native` tools are named. */
  readonly nativeNames?: NativeNames;
}

/**
 * Lists the tools of a surface. The list depends only on the visible domains, never on what was discovered, so
 * prompt caches stay valid. The search tool carries a map of the catalog, as detailed as the budget allows. The token
 * counter is large, so it is loaded only when something has to be counted.
 */
export async function createMenu(view: View, options: MenuOptions = {}): Promise<readonly MenuTool[]> {
  const { surface, toolSearch, run, shortcuts, nativeNames } = options;
  if (surface === "native")
    return [...nativeTools(view.shown, nativeNames)].map(([name, entry]) => toNativeTool(name, entry));
  const menus = menusOf(view.shown);
  const key = JSON.stringify([surface, toolSearch, run, shortcuts, view.principal.allowWrite]);
  const menu = menus.get(key) ?? makeMenu(view, options);
  menus.set(key, menu);
  menu.catch(() => menus.delete(key));
  return menu;
}

/** The menus of the same entries by options: every conversation asks for one, and counting takes milliseconds. */
const menusOf = memoizeByObject(
  (_shown: readonly Entry[]) => new Map<string, Promise<readonly MenuTool[]>>(),
);

async function makeMenu(view: View, options: MenuOptions): Promise<readonly MenuTool[]> {
  const offered = surfaceTools(options);
  const asking = offered.findIndex(({ operation }) => operation === "ask");
  const finder = Math.max(0, asking);
  const operations = offered.map((tool, at) => {
    const listed = toMenuTool(tool, view);
    return at === finder ? { ...listed, description: `${leadOf(view)}${listed.description}` } : listed;
  });
  const shortcuts = [...shortcutsOf(view, options)].map(([name, entry]) => toShortcutTool(name, entry));
  // Shortcuts come last, so that the operations keep their places in prompt caches.
  const fitting = shortcuts.length === 0 ? 0 : countFitting(operations, shortcuts, await loadTokenCounter());
  const tools = [...operations, ...shortcuts.slice(0, fitting)];
  if (needsNoMap(view)) return tools;
  const plain = tools[finder]!;
  const withMap = (map: string) => tools.with(finder, { ...plain, description: plain.description + map });
  return withMap(fitMap(toPieces(view), withMap, await loadTokenCounter()));
}

/** One tool of the default surface by itself. */
export function menuTool(name: string, view: View): MenuTool {
  return toMenuTool(surfaceTools({}).find((tool) => tool.name === name)!, view);
}

/** Returns the most detailed map with which the whole menu keeps to its budget. */
function fitMap(
  pieces: readonly Piece[],
  withMap: (map: string) => readonly MenuTool[],
  countTokens: TokenCounter,
): string {
  let room = MENU_TOKENS - countTokens(JSON.stringify(withMap("")));
  while (true) {
    const map = toMap(pieces, room, countTokens);
    const over = countTokens(JSON.stringify(withMap(map))) - MENU_TOKENS;
    if (over <= 0 || map === "") return map;
    room -= over;
  }
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

/** Domains with counts and leading verbs; the smallest lose their details, then their place, first. */
function toPieces(view: View): Piece[] {
  return namedDomains(view).map((name): Piece => {
    const entries = entriesByDomain(view.shown).get(name)!;
    const verbs = leadingVerbs(entries);
    const forms = [`${name} (${entries.length})`, name, ""];
    if (verbs.length === 0) return { forms, prices: [2, 3] };
    return { forms: [`${name} (${entries.length}: ${verbs.join(", ")})`, ...forms], prices: [1, 2, 3] };
  });
}

/** Names domains first: some clients show a model only the beginning of a description. */
function leadOf(view: View): string {
  const all = namedDomains(view);
  const names = needsNoMap(view) ? all.join(", ") : listNames(all, LEAD_CHARS);
  return names === "" ? "" : `For ${names}. `;
}

/** Whether a map would only repeat the names of the lead, with their counts. */
function needsNoMap(view: View): boolean {
  return namedDomains(view).join(", ").length <= WHOLE_LEAD_CHARS && !view.shown.some(verbOf);
}

/** The domains that list something. */
function namedDomains(view: View): string[] {
  return domainsBySize(view).filter((name) => entriesByDomain(view.shown).has(name));
}

function toMap(pieces: readonly Piece[], room: number, countTokens: TokenCounter): string {
  const chosen = fitPieces(pieces, room - countTokens(HEADING + MORE), countTokens);
  const lines = pieces.map(({ forms }, index) => forms[chosen[index]!]!).filter((line) => line !== "");
  if (lines.length === 0) return "";
  return `${HEADING} ${lines.join("; ")}${lines.length < pieces.length ? MORE : ""}.`;
}

function leadingVerbs(entries: readonly Entry[]): string[] {
  const verbs = Map.groupBy(
    entries.flatMap((entry) => verbOf(entry) ?? []),
    (verb) => verb,
  );
  return [...verbs]
    .sort(([one, ones], [other, others]) => others.length - ones.length || (one < other ? -1 : 1))
    .slice(0, TOP_VERBS)
    .map(([verb]) => verb);
}

/** The last part of an op that has an entity between its domain and its verb. */
function verbOf({ kind, op }: Entry): string | undefined {
  const last = op.lastIndexOf(".");
  return kind === "tool" && last > op.indexOf(".") ? op.slice(last + 1) : undefined;
}

interface ShortcutOptions extends SurfaceOptions {
  /**
   * Routes or ops of tools and skills that stand in the menu as tools of their own, the most important first. Those
   * that do not fit into the budget of the menu are left out; they are found like all others.
   */
  readonly shortcuts?: readonly string[];
}

/** Tokens that the map of the catalog keeps, whatever stands beside it. */
const MAP_TOKENS = 60;

/** The shortcuts that a principal can use, by the names of their tools, in the order of the option. */
export function shortcutsOf(view: View, { shortcuts = [], ...surface }: ShortcutOptions): Map<string, Entry> {
  const entries = [...new Set(shortcuts.flatMap((address) => view.find(address) ?? []))];
  const usable = entries.filter(
    ({ kind, lane }) => kind !== "tool" || lane === "read" || view.principal.allowWrite,
  );
  const own = new Set(surfaceTools(surface).map(({ name }) => name));
  return nativeTools(usable, "ops", (name) => own.has(name) || vendorsRefuse(name));
}

/** A shortcut as a tool: what a call needs, and no more. */
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

/** How many shortcuts fit into the budget beside the other tools. */
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

/** The tokens of a list of tools, a line of JSON each. Long lists are counted in between other work. */
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
