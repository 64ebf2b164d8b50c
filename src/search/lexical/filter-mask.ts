import type { SearchFilter } from "../port/search-index.ts";
import type { Facet, Segment } from "./segment.ts";

/** One string for filters that let the same documents through. */
export function filterKey(filter: SearchFilter): string {
  return JSON.stringify([
    filter.scopes.toSorted(),
    filter.domain ?? null,
    filter.kinds ?? null,
    filter.categories ?? null,
    filter.tags ?? null,
  ]);
}

/** A bit for each document that passes and is not dead; null where every one does. */
export function filterMask(
  segment: Segment,
  filter: SearchFilter,
  dead: Uint32Array | undefined,
): Uint32Array | null {
  const passing = new Uint8Array(segment.facets.length);
  const passes = facetTest(filter);
  let all = dead === undefined;
  segment.facets.forEach((facet, number) => {
    if (passes(facet)) passing[number] = 1;
    else all = false;
  });
  if (all) return null;
  const mask = new Uint32Array(Math.ceil(segment.ids.size / 32));
  for (let document = 0; document < segment.ids.size; document++) {
    mask[document >>> 5]! |= passing[segment.facetOf[document]!]! << (document & 31);
  }
  if (dead !== undefined) for (let word = 0; word < mask.length; word++) mask[word]! &= ~dead[word]!;
  return mask;
}

/** Tells whether documents of a facet pass. */
export function facetTest(filter: SearchFilter): (facet: Facet) => boolean {
  const scopes = new Set(filter.scopes);
  const kinds = filter.kinds && new Set<string>(filter.kinds);
  const categories = filter.categories && new Set(filter.categories);
  return (facet) => {
    if (!facet.scopes.every((scope) => scopes.has(scope))) return false;
    if (filter.domain !== undefined && facet.domain !== filter.domain) return false;
    if (kinds !== undefined && !kinds.has(facet.kind)) return false;
    if (categories !== undefined && !categories.has(facet.category)) return false;
    return filter.tags === undefined || filter.tags.every((tag) => facet.tags.includes(tag));
  };
}
