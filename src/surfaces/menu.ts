import { z } from "zod";
import type { View } from "../access/view.ts";
import { domainsBySize, entriesByDomain, listNames } from "../operations/domain-line.ts";
import type { Operation } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operations.ts";
import { compactSchema } from "../render/compact-schema.ts";
import { fitPieces, type Piece } from "../render/fit-pieces.ts";
import type { Entry } from "../schema/entry.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { contentHash } from "../util/content-hash.ts";
import { oncePer } from "../util/once-per.ts";
import type { TokenCounter } from "../util/tokens.ts";
import type { MapMemo } from "./map-memo.ts";
import type { MenuTool } from "./menu-tool.ts";
import { type NativeNames, nativeTools, toNativeTool } from "./native-tools.ts";
import { countFitting, type ShortcutOptions, shortcutsOf, toShortcutTool } from "./shortcuts.ts";
import { type SurfaceTool, surfaceTools } from "./surface.ts";

type AnyOperation = Pick<
  Operation<z.ZodType, unknown, z.ZodType>,
  "title" | "input" | "purpose" | "readOnly" | "unlisted"
>;

/** The most that a whole menu may cost, for any catalog, except on `native`, which lists the catalog itself. */
export const MENU_TOKENS = 900;
const TOP_VERBS = 3;
const LEAD_CHARS = 90;
/** A lead that needs no map after it may be longer. */
const WHOLE_LEAD_CHARS = 110;
const HEADING = " Behind it:";
const MORE = ", and more domains";

export interface MenuOptions extends ShortcutOptions {
  /** How `native` tools are named. */
  readonly nativeNames?: NativeNames;
}

/** The token counter is large, so it loads only when something has to be counted. */
export interface MenuTools {
  loadCounter(): Promise<TokenCounter>;
  readonly memo?: MapMemo | undefined;
}

/**
 * Lists the tools of a surface. The list depends only on the visible domains, never on what was discovered, so
 * prompt caches stay valid. The search tool carries a map of the catalog, as detailed as the budget allows.
 */
export async function createMenu(
  view: View,
  { loadCounter, memo }: MenuTools,
  options: MenuOptions = {},
): Promise<MenuTool[]> {
  if (options.surface === "native") {
    return [...nativeTools(view.shown, options.nativeNames)].map(([name, entry]) =>
      toNativeTool(name, entry),
    );
  }
  const shown = surfaceTools(options);
  const finder = Math.max(
    0,
    shown.findIndex(({ operation }) => operation === "ask"),
  );
  const own = shown.map((tool, at) => {
    const made = toMenuTool(tool, view);
    return at === finder ? { ...made, description: `${leadOf(view)}${made.description}` } : made;
  });
  const shortcuts = [...shortcutsOf(view, options)].map(([name, entry]) => toShortcutTool(name, entry));
  // Shortcuts come last, so that the others keep their places in prompt caches.
  const tools = [...own, ...(await fitting(own, shortcuts, { loadCounter, memo }))];
  const plain = tools[finder]!;
  const withMap = (map: string) => tools.with(finder, { ...plain, description: plain.description + map });
  const maps = mapsOf(view.shown);
  const surface = JSON.stringify(tools);
  const known = maps.get(surface);
  if (known !== undefined) return withMap(known);
  if (needsNoMap(view)) {
    maps.set(surface, "");
    return tools;
  }
  const pieces = toPieces(view);
  const key = contentHash([MENU_TOKENS, HEADING, MORE, finder, tools, pieces]);
  const kept = await memo?.get(key);
  const map = kept ?? fitMap(pieces, withMap, await loadCounter());
  if (kept === undefined) await memo?.set(key, map);
  maps.set(surface, map);
  return withMap(map);
}

/** The first shortcuts that fit into the menu beside its own tools. */
async function fitting(
  own: readonly MenuTool[],
  shortcuts: readonly MenuTool[],
  { loadCounter, memo }: MenuTools,
): Promise<readonly MenuTool[]> {
  if (shortcuts.length === 0) return [];
  const key = contentHash(["shortcuts", MENU_TOKENS, own, shortcuts]);
  const kept = await memo?.get(key);
  const count = kept ?? String(countFitting(own, shortcuts, MENU_TOKENS, await loadCounter()));
  if (kept === undefined) await memo?.set(key, count);
  return shortcuts.slice(0, Number(count));
}

/** One tool of the default surface by itself. */
export function menuTool(name: string, view: View): MenuTool {
  return toMenuTool(surfaceTools({}).find((tool) => tool.name === name)!, view);
}

/** Caches maps by the entries they show, because making one for every conversation would cost too much. */
const mapsOf = oncePer((_shown: readonly Entry[]) => new Map<string, string>());

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
  const { title, input, purpose: ownPurpose, readOnly, unlisted = [] }: AnyOperation = OPERATIONS[operation];
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
  const schema = compactSchema(z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as JsonSchema);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, unknown>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.filter(([name]) => !unlisted.includes(name))),
  };
}

/** Domains with counts and leading verbs; the smallest lose their details, then their place, first. */
function toPieces(view: View): Piece[] {
  return namedDomains(view).map((name): Piece => {
    const entries = entriesByDomain(view).get(name)!;
    const verbs = leadingVerbs(entries);
    const forms = [
      `${name} (${entries.length}: ${verbs.join(", ")})`,
      `${name} (${entries.length})`,
      name,
      "",
    ];
    return {
      forms: verbs.length > 0 ? forms : forms.slice(1),
      prices: verbs.length > 0 ? [1, 2, 3] : [2, 3],
    };
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
  return domainsBySize(view).filter((name) => entriesByDomain(view).has(name));
}

function toMap(pieces: readonly Piece[], room: number, countTokens: TokenCounter): string {
  const chosen = fitPieces(pieces, room - countTokens(HEADING + MORE), countTokens);
  const lines = pieces.map(({ forms }, index) => forms[chosen[index]!]!).filter((line) => line !== "");
  if (lines.length === 0) return "";
  return `${HEADING} ${lines.join("; ")}${lines.length < pieces.length ? MORE : ""}.`;
}

function leadingVerbs(entries: readonly Entry[]): string[] {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const verb = verbOf(entry);
    if (verb) counts.set(verb, (counts.get(verb) ?? 0) + 1);
  }
  return [...counts]
    .sort(([one, count], [other, otherCount]) => otherCount - count || (one < other ? -1 : 1))
    .slice(0, TOP_VERBS)
    .map(([verb]) => verb);
}

/** The last part of an op that has an entity between its domain and its verb. */
function verbOf({ kind, op }: Entry): string | undefined {
  const last = op.lastIndexOf(".");
  return kind === "tool" && last > op.indexOf(".") ? op.slice(last + 1) : undefined;
}
