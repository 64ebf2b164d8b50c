import type { SearchDocument, SearchFilter, SearchIndex } from "../../search/search-index.ts";

/** One thing that every index does. `fresh` gives an empty one. */
export interface Behaviour {
  readonly name: string;
  readonly check: (fresh: () => Promise<SearchIndex>) => Promise<void>;
}

/** A document with nothing in it but what is given. */
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

/** The ids of what a query finds. */
export async function idsOf(
  index: SearchIndex,
  query: string,
  filter: Partial<SearchFilter> = {},
  limit = 10,
): Promise<string[]> {
  const hits = await index.search({ query, limit, filter: { scopes: [], ...filter } });
  return hits.map(({ id }) => id);
}

/** Unlike each other and unlike what the behaviours ask for, so that words differ in rarity. */
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
