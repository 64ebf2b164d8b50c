import assert from "node:assert/strict";
import type { SearchDocument, SearchFilter, SearchIndex } from "../../search/port/search-index.ts";

/** A behaviour of every index. */
export interface Behaviour {
  readonly name: string;
  /** Put into the index before the check. */
  readonly documents?: readonly SearchDocument[];
  /** `fresh` creates another, empty index. */
  readonly check: (index: SearchIndex, fresh: () => Promise<SearchIndex>) => Promise<void>;
}

/** Creates a document that is empty but for the given fields. */
export function documentOf(given: Partial<SearchDocument> & { readonly id: string }): SearchDocument {
  return {
    kind: "tool",
    domain: "shop",
    visibility: "listed",
    scopes: [],
    tags: [],
    name: given.id,
    aliases: [],
    description: "",
    parameters: "",
    domainText: "",
    content: "",
    ...given,
  };
}

/** Searches and returns the ids of the hits. */
export async function idsOf(
  index: SearchIndex,
  query: string,
  filter: Partial<SearchFilter> = {},
  limit = 10,
): Promise<string[]> {
  const hits = await index.search({ query, limit, filter: { scopes: [], ...filter } });
  return hits.map(({ id }) => id);
}

/** Checks the best hit of each query. */
export function bestIs(idByQuery: Readonly<Record<string, string>>): Behaviour["check"] {
  return async (index) => {
    for (const [query, id] of Object.entries(idByQuery)) {
      assert.equal((await idsOf(index, query))[0], id, query);
    }
  };
}

/** Unrelated documents, so that words differ in rarity. */
export const SURROUNDINGS: readonly SearchDocument[] = [
  { id: "open_door", description: "Open the garage door remotely" },
  { id: "play_song", description: "Play a song on the kitchen speaker" },
  { id: "resize_image", description: "Change the width and height of a picture" },
  { id: "convert_currency", description: "Exchange an amount between two currencies" },
  { id: "translate_text", description: "Turn a paragraph into another language" },
  { id: "book_flight", description: "Reserve a seat on an aeroplane" },
  { id: "water_plants", description: "Start the sprinkler in the garden" },
  { id: "archive_folder", description: "Compress a directory for storage" },
].map(documentOf);
