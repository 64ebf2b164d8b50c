import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";
import { CONTENT_TYPES } from "../content-search.ts";
import { all } from "../database.ts";
import type { Site } from "../site.ts";

const SNIPPET = 160;

export function searchTools({ database, content }: Site): AnyTool[] {
  return [
    defineTool({
      name: "search_vector",
      description:
        "Searches all content of the website by meaning: pages, sections, images, posts and entries together.",
      category: "search",
      phrases: ["semantic search", "search content", "vector search", "where do we write about"],
      relatedTools: ["cms_findResource", "cms_searchImages"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({
        query: z.string().trim().min(1).max(300),
        types: z
          .array(z.enum(CONTENT_TYPES))
          .min(1)
          .default([...CONTENT_TYPES]),
        limit: z.int().min(1).max(20).default(5),
      }),
      examples: [{ args: { query: "how heavy is snow on a roof" } }],
      notes: [
        "By words and word vectors, without a model. A distance closer to 0 is a better match.",
        "There is always a nearest thing: judge it by its text.",
      ],
      execute: async ({ query, types, limit }) => {
        const found = await content.find(query, { limit, types });
        return { results: found.map((item) => ({ ...item, text: item.text.slice(0, SNIPPET) })) };
      },
    }),

    defineTool({
      name: "cms_findResource",
      description: "Finds a page, section, image, post, entry or menu item by a part of its name.",
      category: "search",
      phrases: ["find resource", "find by name", "look up anything called", "which id has"],
      relatedTools: ["search_vector", "cms_getPage"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({
        name: z.string().trim().min(1).max(100).describe("A part of the name, slug or filename"),
        limit: z.int().min(1).max(50).default(10),
      }),
      examples: [{ args: { name: "cabin" } }],
      execute: ({ name, limit }) => {
        const sql = `SELECT * FROM (
            SELECT 'page' AS type, id, name, slug AS address FROM pages UNION ALL
            SELECT 'section', id, name, page_id FROM sections UNION ALL
            SELECT 'post', id, title, slug FROM posts UNION ALL
            SELECT 'entry', id, title, slug FROM entries UNION ALL
            SELECT 'navigation_item', id, label, url FROM navigation UNION ALL
            SELECT 'image', id, filename, url FROM images
          ) WHERE instr(lower(name || ' ' || address), lower(?)) > 0 LIMIT ?`;
        return { matches: all(database, sql, name, limit) };
      },
    }),
  ];
}
