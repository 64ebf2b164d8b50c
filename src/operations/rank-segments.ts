import type { Entry } from "../schema/entry.ts";
import { readSegmentFilter, type SearchConfig, segmentTag } from "../schema/search-config.ts";

/** Searches the entries of one domain that have all of these tags. */
export type SearchTagged = (domain: string, tags: readonly string[], limit: number) => Promise<Entry[]>;

/**
 * The hits of a domain in the order of its search config: first what runs, then segment by segment, each searched
 * for itself up to its limit, then documents that are in no segment.
 */
export async function rankSegments(
  domain: string,
  { segments = [] }: SearchConfig,
  found: readonly Entry[],
  search: SearchTagged,
): Promise<Entry[]> {
  const ordered = segments
    .toSorted((left, right) => left.priority - right.priority)
    .flatMap(({ filter, limit }) => {
      const read = readSegmentFilter(filter);
      return read ? [{ ...read, limit }] : [];
    });
  const members = await Promise.all(
    ordered.map(({ key, value, limit }) => search(domain, [segmentTag(key, value)], limit)),
  );
  const isMember = ({ metadata }: Entry) =>
    ordered.some(({ key, value }) => Object.hasOwn(metadata, key) && String(metadata[key]) === value);
  const others = found.filter((entry) => !isMember(entry));
  return [
    ...new Set([
      ...others.filter(({ kind }) => kind !== "resource"),
      ...members.flat(),
      ...others.filter(({ kind }) => kind === "resource"),
    ]),
  ];
}

/** Fills each domain's places in a ranking from its own list; the rest of the lists goes last. */
export function fillPlaces(
  ranked: readonly Entry[],
  lists: ReadonlyMap<string, readonly Entry[]>,
): readonly Entry[] {
  if (lists.size === 0) return ranked;
  const queues = new Map([...lists].map(([domain, list]) => [domain, [...list]]));
  const filled = ranked.flatMap((entry) => {
    const queue = queues.get(entry.domain);
    return queue ? (queue.shift() ?? []) : [entry];
  });
  return [...filled, ...[...queues.values()].flat()];
}
