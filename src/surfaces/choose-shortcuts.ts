import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { View } from "../access/view.ts";
import type { Entry } from "../schema/entry.ts";
import { contentHash } from "../util/content-hash.ts";
import type { MapMemo } from "./map-memo.ts";
import { isNative } from "./native-tools.ts";
import type { ShortcutOptions } from "./shortcuts.ts";

/** Completes the shortcuts of the option with those that were learned. */
export type ChooseShortcuts = (
  view: View,
  options: Pick<ShortcutOptions, "shortcuts" | "learnedShortcuts">,
) => Promise<readonly string[]>;

/** The entries that a principal uses most, most used first. */
type Favourites = (scope: string, principal: string) => readonly string[];

const routesSchema = z.array(z.string());
const MAX_CHOICES = 1_000;

/**
 * Chooses learned shortcuts once for each version of what a principal sees, so that the menu keeps its bytes and prompt
 * caches hold. The memo keeps the choice for the next start. Nothing to choose from is no choice: the next start looks
 * again.
 */
export function createShortcutChooser(favourites: Favourites, memo: MapMemo | undefined): ChooseShortcuts {
  const chosen = new LRUCache<string, Promise<readonly string[]>>({ max: MAX_CHOICES });

  async function choose(view: View, most: number, key: string): Promise<readonly string[]> {
    const kept = readRoutes(await memo?.get(key));
    if (kept) return kept;
    const { scopeKey, principal } = view;
    const routes = favourites(scopeKey, principal.id)
      .filter((route) => isLearnable(view.find(route), view))
      .slice(0, most);
    if (routes.length > 0) await memo?.set(key, JSON.stringify(routes));
    return routes;
  }

  return async (view, { shortcuts = [], learnedShortcuts: most = 0 }) => {
    if (most <= 0) return shortcuts;
    const { version, scopeKey, principal } = view;
    const key = contentHash([version, scopeKey, principal.id, principal.allowWrite, most]);
    const routes = chosen.get(key) ?? choose(view, most, key);
    chosen.set(key, routes);
    return [...shortcuts, ...(await routes)];
  };
}

/** A shortcut never runs dry, so what destroys stays behind the tool that does by default. */
function isLearnable(entry: Entry | undefined, { principal }: View): boolean {
  if (!entry || !isNative(entry) || entry.visibility === "hidden" || entry.lane === "destructive")
    return false;
  return entry.kind !== "tool" || entry.lane === "read" || principal.allowWrite;
}

/** Undefined if unreadable. */
function readRoutes(text: string | undefined): readonly string[] | undefined {
  try {
    return routesSchema.safeParse(JSON.parse(text ?? "")).data;
  } catch {
    return undefined;
  }
}
