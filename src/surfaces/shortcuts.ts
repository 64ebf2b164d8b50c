import type { View } from "../access/view.ts";
import { compactSchema } from "../render/compact-schema.ts";
import type { Entry } from "../schema/entry.ts";
import { toSummary } from "../util/to-summary.ts";
import type { MenuTool } from "./menu-tool.ts";
import { nativeTools, toNativeTool, vendorsRefuse } from "./native-tools.ts";
import { type SurfaceOptions, surfaceTools } from "./surface.ts";

export interface ShortcutOptions extends SurfaceOptions {
  /**
   * Routes or ops of tools and skills that stand in the menu as tools of their own, the most important first. Those
   * that do not fit into the budget of the menu are left out; they are found like all others.
   */
  readonly shortcuts?: readonly string[];
  /**
   * How many more stand there because the principal uses them most. They are chosen once for each catalog, and none of
   * them destroys anything. Default: 0.
   */
  readonly learnedShortcuts?: number;
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
export function toShortcutTool(name: string, entry: Entry): MenuTool {
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
export function countFitting(
  tools: readonly MenuTool[],
  shortcuts: readonly MenuTool[],
  budget: number,
  countTokens: (text: string) => number,
): number {
  const fits = (count: number) =>
    countTokens(JSON.stringify([...tools, ...shortcuts.slice(0, count)])) + MAP_TOKENS <= budget;
  let count = 0;
  while (count < shortcuts.length && fits(count + 1)) count += 1;
  return count;
}
