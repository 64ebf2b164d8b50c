import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import { nextId, one, run } from "../database.ts";
import { getImage, toSlug } from "../records.ts";
import type { Photo } from "../seed/web.ts";
import type { Site } from "../site.ts";

const API = "https://api.pexels.example/v1";

export function pexelsTools({ database, web, now }: Site): AnyTool[] {
  return [
    defineTool({
      name: "pexels_searchPhotos",
      op: "cms.pexels.photo.search",
      description: "Searches free stock photos at Pexels. Answers with previews; nothing is saved.",
      category: "pexels",
      phrases: ["search stock photos", "find photo on pexels", "free photo"],
      relatedTools: ["pexels_downloadPhoto", "cms_searchImages"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({
        query: z.string().trim().min(1).max(200),
        limit: z.int().min(1).max(20).default(5),
      }),
      examples: [{ args: { query: "mountain hut" } }],
      execute: async ({ query, limit }, { signal }) => {
        const address = `${API}/search?query=${encodeURIComponent(query)}&per_page=${limit}`;
        const { text } = await web.read(address, { signal });
        const { photos } = JSON.parse(text) as { photos: Photo[] };
        return { photos: photos.map(({ src, ...photo }) => ({ ...photo, preview: src.original })) };
      },
    }),

    defineTool({
      name: "pexels_downloadPhoto",
      op: "cms.pexels.photo.download",
      description:
        "Downloads a Pexels stock photo into the image library, with its alt text and photographer.",
      category: "pexels",
      phrases: ["download stock photo", "save pexels photo", "import photo from pexels"],
      relatedTools: ["pexels_searchPhotos", "cms_addImageToSection", "cms_updateSectionImage"],
      riskLevel: "moderate",
      lane: "write",
      extraction: { path: "image", type: "image", nameField: "filename" },
      inputSchema: z.object({
        photo: z.int().min(1).describe("Id of the photo, as the search of stock photos gives it"),
        alt: z.string().max(160).optional().describe("Alt text, if the photo's own will not do"),
      }),
      examples: [{ args: { photo: 1002 } }],
      execute: async (params, { signal }) => {
        const { text } = await web.read(`${API}/photos/${params.photo}`, { signal });
        const { id: photoId, alt, photographer, src } = JSON.parse(text) as Photo;
        const source = `pexels:${photoId}`;
        const picture = await web.read(src.original, { signal });
        const known = one<{ id: string }>(database, "SELECT id FROM images WHERE source = ?", source);
        if (known) throw problem("CONFLICT", { reason: `The library has this photo already: ${known.id}.` });
        const id = nextId(database, "img");
        const filename = `pexels-${photoId}-${toSlug(alt)}.svg`;
        const sql = "INSERT INTO images VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        const told = `${alt}, stock photo by ${photographer}`;
        const url = `/uploads/images/${filename}`;
        const data = Buffer.from(picture.text);
        run(database, sql, id, filename, url, params.alt ?? alt, told, "stock pexels", source, data, now());
        return { image: getImage(database, id), bytes: data.length };
      },
    }),
  ];
}
