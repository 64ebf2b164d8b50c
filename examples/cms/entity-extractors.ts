// Extractors for two tools that return several kinds of entity. An extraction schema has only one kind.
import type { Entity } from "keyhole";

const MOST = 5;

export const ENTITY_EXTRACTORS: Readonly<Record<string, (result: unknown) => Entity[]>> = {
  cms_findResource: (result) => entitiesIn(result, "matches"),
  search_vector: (result) => entitiesIn(result, "results"),
};

/** Each item has its own type. Items without id or name are skipped. */
function entitiesIn(result: unknown, field: string): Entity[] {
  const items: unknown = (result as Record<string, unknown> | null)?.[field];
  if (!Array.isArray(items)) return [];
  return items.slice(0, MOST).flatMap((item: Record<string, unknown> | null) => {
    if (!item?.id || !item.name) return [];
    const type = String(item.type ?? "resource").toLowerCase();
    return [{ type, id: String(item.id), name: String(item.name), timestamp: new Date() }];
  });
}
