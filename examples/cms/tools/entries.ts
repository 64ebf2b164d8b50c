import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import { all, one } from "../database.ts";
import { missing } from "../records.ts";
import type { Site } from "../site.ts";

interface Collection {
  readonly collection: string;
  readonly count: number;
}

export function entryTools({ database }: Site): AnyTool[] {
  return [
    defineTool({
      name: "cms_getCollectionEntries",
      description: "Gets the entries of a collection, such as projects, team or testimonials.",
      category: "entries",
      phrases: ["get collection entries", "list entries", "show testimonials", "list items of a collection"],
      relatedTools: ["cms_getEntryContent"],
      riskLevel: "safe",
      extraction: { path: "entries", type: "entry", nameField: "title", isArray: true },
      inputSchema: z.object({
        collection: z.string().min(1).max(40),
        limit: z.int().min(1).max(100).default(20),
      }),
      examples: [{ args: { collection: "projects" } }],
      execute: ({ collection, limit }) => {
        const sql = `SELECT id, collection, slug, title, summary FROM entries WHERE collection = ?
          ORDER BY position LIMIT ?`;
        const entries = all(database, sql, collection, limit);
        if (entries.length > 0) return { collection, entries };
        const known = all<Collection>(
          database,
          "SELECT collection, count(*) AS count FROM entries GROUP BY 1 ORDER BY 1",
        );
        throw problem("NOT_FOUND", { name: `collection ${collection}` }, { known });
      },
    }),

    defineTool({
      name: "cms_getEntryContent",
      description: "Gets one entry of a collection with all of its fields.",
      category: "entries",
      phrases: ["get entry content", "read entry", "show collection item", "entry details"],
      relatedTools: ["cms_getCollectionEntries"],
      riskLevel: "safe",
      extraction: { path: "$root", type: "entry", nameField: "title" },
      inputSchema: z.object({ entry: z.string().min(1).max(100).describe("Id of the entry") }),
      examples: [{ args: { entry: "entry_ridge-cabin" } }],
      execute: (params) => {
        const row = one<{ content: string }>(database, "SELECT * FROM entries WHERE id = ?", params.entry);
        if (!row)
          return missing(database, "entry", params.entry, "SELECT id AS name FROM entries ORDER BY id");
        return { ...row, content: JSON.parse(row.content) };
      },
    }),
  ];
}
