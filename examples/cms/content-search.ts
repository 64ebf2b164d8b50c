// Search over the site's content with the engine that searches Keyhole's catalog: words, and the word vectors
// that come with the package. It uses no model and no network.
import type { DatabaseSync } from "node:sqlite";
import type { SearchDocument } from "keyhole/search";
import { createEmbeddedIndex, createStaticEmbedder } from "keyhole/search";
import { all, one } from "./database.ts";
import { imagesOf } from "./records.ts";

export const CONTENT_TYPES = ["page", "section", "image", "post", "entry"] as const;
export type ContentType = (typeof CONTENT_TYPES)[number];

export interface Found {
  readonly type: ContentType;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  /** Closer to 0 is better. Comparable only within one answer. */
  readonly distance: number;
}

export interface ContentSearch {
  /** Returns hits, best first. With `sharesWord`, only those with a word of the query; otherwise also by meaning. */
  find(
    query: string,
    options: {
      readonly limit: number;
      readonly types?: readonly ContentType[];
      readonly sharesWord?: boolean;
    },
  ): Promise<Found[]>;
  close(): Promise<void>;
}

interface ContentText {
  readonly type: ContentType;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** Hits by meaning alone may rank before hits that share a word. */
const LOOKED_AT = 100;

export function createContentSearch(database: DatabaseSync): ContentSearch {
  const index = createEmbeddedIndex({ embedder: createStaticEmbedder() });
  let texts = new Map<string, ContentText>();
  let indexedAt = -1;
  let indexing: Promise<void> = Promise.resolve();

  /** Rebuilds the index if rows have changed since. */
  function upToDate(): Promise<void> {
    const before = indexing.catch(() => undefined);
    indexing = before.then(async () => {
      const { changes } = one<{ changes: number }>(database, "SELECT total_changes() AS changes")!;
      if (changes === indexedAt) return;
      const now = new Map(textsOf(database).map((text) => [`${text.type}:${text.id}`, text]));
      await index.drop([...texts.keys()].filter((key) => !now.has(key)));
      await index.put([...now].map(([key, text]) => toDocument(key, text)));
      await index.settled();
      texts = now;
      indexedAt = changes;
    });
    return indexing;
  }

  return {
    async find(query, { limit, types = CONTENT_TYPES, sharesWord = false }) {
      await upToDate();
      const filter = { scopes: [], categories: types };
      const hits = await index.search({ query, limit: Math.max(LOOKED_AT, limit), filter, explain: true });
      return hits
        .filter(({ explanation }) => !sharesWord || (explanation?.lexical ?? 0) > 0)
        .slice(0, limit)
        .map(({ id, score }) => ({ ...texts.get(id)!, distance: Number(Math.max(0, 1 - score).toFixed(3)) }));
    },
    close: () => index.close(),
  };
}

function textsOf(database: DatabaseSync): ContentText[] {
  const images = imagesOf(database).map(
    ({ id, filename, alt, description, tags }): ContentText => ({
      type: "image",
      id,
      name: filename,
      text: [alt, description, tags.join(" ")].join(". "),
    }),
  );
  const sql = `
    SELECT 'page' AS type, id, name, description AS text FROM pages UNION ALL
    SELECT 'section', id, name, (SELECT group_concat(value, ' ') FROM json_each(content)) FROM sections UNION ALL
    SELECT 'post', id, title, excerpt || ' ' || body FROM posts UNION ALL
    SELECT 'entry', id, title, summary FROM entries`;
  return [...images, ...all<ContentText>(database, sql)].map(({ text, ...rest }) => ({
    ...rest,
    text: text ?? "",
  }));
}

function toDocument(key: string, { type, name, text }: ContentText): SearchDocument {
  return {
    id: key,
    kind: "resource",
    domain: "site",
    visibility: "listed",
    scopes: [],
    category: type,
    tags: [],
    name,
    aliases: [],
    description: text,
    parameters: "",
    domainText: "",
    content: "",
  };
}
