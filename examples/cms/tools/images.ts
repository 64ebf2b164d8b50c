import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import { all, inTransaction, run } from "../database.ts";
import { getImage, getSection, imagesOf } from "../records.ts";
import type { Site } from "../site.ts";
import { imageFieldOf, templateOf } from "../templates.ts";

const image = z.string().min(1).max(200).describe("Id or filename of the image");
const section = z.string().min(1).max(100).describe("Id of the section, as listed for its page");
const field = z.string().min(1).max(40).describe("Name of an image field of the template");
const query = z.string().trim().min(1).max(200).describe("What the image shows, in words");
const ONE = { path: "image", type: "image", nameField: "filename" };
const MANY = { path: "images", type: "image", nameField: "filename", isArray: true };
const PEXELS = "cms.pexels.photo.search";

interface Use {
  readonly section_id: string;
  readonly field: string;
  readonly position: number;
}

export function imageTools({ database, content, now }: Site): AnyTool[] {
  const usesOf = (id: string) =>
    all<Use>(database, "SELECT section_id, field, position FROM section_images WHERE image_id = ?", id);

  function put(sectionId: string, fieldName: string, position: number, imageId: string): void {
    const sql = "INSERT OR REPLACE INTO section_images VALUES (?, ?, ?, ?)";
    run(database, sql, sectionId, fieldName, position, imageId);
    run(database, "UPDATE sections SET updated_at = ? WHERE id = ?", now(), sectionId);
  }

  async function search(words: string, limit: number) {
    const found = await content.find(words, { limit, types: ["image"], sharesWord: true });
    return found.map(({ id, distance }) => ({ ...getImage(database, id), distance }));
  }

  function planDeletion(reference: string) {
    const { id, filename } = getImage(database, reference);
    const uses = usesOf(id);
    if (uses.length > 0) {
      const reason = `${filename} is shown in ${uses.map((use) => use.section_id).join(", ")}: replace it there first.`;
      throw problem("CONFLICT", { reason }, { used_in: uses });
    }
    return { id, filename };
  }

  return [
    defineTool({
      name: "cms_findImage",
      description: "Finds one image: by id or filename, or the one that fits a description best.",
      category: "images",
      phrases: ["find image", "get image", "which image is this", "show image details"],
      relatedTools: ["cms_searchImages", "cms_updateSectionImage"],
      riskLevel: "safe",
      extraction: ONE,
      inputSchema: z.object({ image: z.string().trim().min(1).max(200).describe("Id, filename or words") }),
      examples: [{ args: { image: "hero-mountain-dawn.jpg" } }, { args: { image: "blue door" } }],
      execute: async (params) => {
        const named = imagesOf(database).find(({ id, filename }) => [id, filename].includes(params.image));
        const found = named ?? (await search(params.image, 1))[0] ?? getImage(database, params.image);
        return { image: found, used_in: usesOf(found.id) };
      },
    }),

    defineTool({
      name: "cms_searchImages",
      description: "Searches the image library by what images show: words of alt text, description and tags.",
      category: "images",
      phrases: [
        "search images",
        "find the hero image",
        "look for a picture",
        "find photo of",
        "image of a mountain",
      ],
      relatedTools: ["cms_updateSectionImage", "cms_addImageToSection", "pexels_searchPhotos"],
      riskLevel: "safe",
      extraction: MANY,
      inputSchema: z.object({ query, limit: z.int().min(1).max(40).default(10) }),
      examples: [{ args: { query: "snowy mountain for a hero" } }],
      notes: ["A distance closer to 0 is a better match; compare distances within one answer only."],
      execute: async (params) => {
        const images = await search(params.query, params.limit);
        if (images.length > 0) return { images };
        const prose = "The library has no such image: look at stock photos.";
        return {
          content: { images },
          guidance: [{ route: PEXELS, prose, params: { query: params.query } }],
        };
      },
    }),

    defineTool({
      name: "cms_listAllImages",
      op: "cms.image.list",
      description: "Lists all images of the library, page by page, with alt texts and where the files are.",
      category: "images",
      phrases: ["list all images", "show image library", "what images do we have"],
      relatedTools: ["cms_searchImages", "cms_findImage"],
      riskLevel: "safe",
      extraction: MANY,
      inputSchema: z.object({
        limit: z.int().min(1).max(100).default(20),
        offset: z.int().min(0).default(0),
        tag: z.string().max(40).optional(),
      }),
      examples: [{ args: {} }, { args: { tag: "cabin" } }],
      execute: ({ limit, offset, tag }) => {
        const images = imagesOf(database).filter(({ tags }) => tag === undefined || tags.includes(tag));
        return { total: images.length, images: images.slice(offset, offset + limit) };
      },
    }),

    defineTool({
      name: "cms_addImageToSection",
      description:
        "Adds an image of the library to a section: to its gallery, or to an image field that is empty.",
      category: "images",
      phrases: ["add image to section", "put picture in section", "add photo to gallery"],
      relatedTools: ["cms_searchImages", "cms_getSectionFields", "cms_updateSectionImage"],
      riskLevel: "moderate",
      extraction: ONE,
      inputSchema: z.object({ section, field: field.default("image"), image }),
      examples: [{ args: { section: "sec_schools", field: "images", image: "img_038" } }],
      execute: (params) => {
        const { id, template, images } = getSection(database, params.section);
        const { type, name } = imageFieldOf(templateOf(template), params.field);
        const added = getImage(database, params.image);
        const held = images[name] ?? [];
        if (type === "image" && held.length > 0) {
          const reason = `The field ${name} of ${id} has ${held[0]}: update it instead of adding another.`;
          throw problem("CONFLICT", { reason });
        }
        if (held.includes(added.id)) {
          throw problem("CONFLICT", { reason: `${added.filename} is in ${id} already.` });
        }
        inTransaction(database, () => put(id, name, held.length, added.id));
        return { image: added, section: getSection(database, id) };
      },
    }),

    defineTool({
      name: "cms_updateSectionImage",
      description: "Puts another image into an image field of a section, such as the hero's.",
      category: "images",
      phrases: [
        "update section image",
        "change hero image",
        "swap the picture of a section",
        "set image of hero",
      ],
      relatedTools: ["cms_searchImages", "cms_getSectionFields", "cms_replaceImage"],
      riskLevel: "moderate",
      extraction: ONE,
      inputSchema: z.object({
        section,
        field: field.default("image"),
        image,
        position: z.int().min(0).max(100).default(0).describe("Which image of a gallery, from 0"),
      }),
      examples: [{ args: { section: "sec_home-hero", image: "northern-lights.jpg" } }],
      execute: (params) => {
        const { id, template, images } = getSection(database, params.section);
        const { name } = imageFieldOf(templateOf(template), params.field);
        const held = images[name] ?? [];
        if (params.position > 0 && params.position >= held.length) {
          throw problem("NOT_FOUND", { name: `image ${params.position} in ${name} of ${id}` }, { held });
        }
        const updated = getImage(database, params.image);
        inTransaction(database, () => put(id, name, params.position, updated.id));
        return { image: updated, before: held[params.position] ?? null, section: getSection(database, id) };
      },
    }),

    defineTool({
      name: "cms_replaceImage",
      description: "Replaces one image by another everywhere on the website.",
      category: "images",
      phrases: ["replace image everywhere", "replace picture", "exchange image on all pages"],
      relatedTools: ["cms_searchImages", "cms_deleteImage"],
      riskLevel: "moderate",
      extraction: ONE,
      inputSchema: z.object({ image: image.describe("The image that goes"), replacement: image }),
      examples: [{ args: { image: "boat-cabin.jpg", replacement: "forest-hut.jpg" } }],
      execute: (params) => {
        const old = getImage(database, params.image);
        const replacement = getImage(database, params.replacement);
        if (old.id === replacement.id) throw problem("CONFLICT", { reason: "Both are the same image." });
        const uses = usesOf(old.id);
        inTransaction(database, () => {
          for (const use of uses) put(use.section_id, use.field, use.position, replacement.id);
        });
        return { image: replacement, replaced: old.id, in: uses };
      },
    }),

    defineTool({
      name: "cms_deleteImage",
      description: "Deletes an image from the library, if no section shows it.",
      category: "images",
      phrases: ["delete image", "remove picture from library"],
      relatedTools: ["cms_findImage", "cms_replaceImage"],
      riskLevel: "destructive",
      requiresConfirmation: true,
      extraction: null,
      inputSchema: z.object({ image }),
      examples: [{ args: { image: "bicycle-rack.jpg" } }],
      dryRun: (params) => ({ would_delete: planDeletion(params.image) }),
      execute: (params) => {
        const plan = planDeletion(params.image);
        run(database, "DELETE FROM images WHERE id = ?", plan.id);
        return { deleted: plan };
      },
    }),
  ];
}
