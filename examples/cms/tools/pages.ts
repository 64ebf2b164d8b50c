import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";
import { all, inTransaction, nextId, one, run } from "../database.ts";
import { checkSlugFree, getPage, type Page, sectionsOf, toSlug } from "../records.ts";
import { insertSection } from "../sections.ts";
import type { Site } from "../site.ts";
import { TEMPLATE_KEYS } from "../templates.ts";

const page = z.string().min(1).max(100).describe("Id or slug of the page");
const name = z.string().trim().min(1).max(80).describe("Name of the page, as visitors read it");
const slug = z
  .string()
  .max(80)
  .regex(/^[a-z0-9-]+$/)
  .describe("Address of the page; made from its name if left out");
const description = z.string().max(300).describe("One or two sentences for search engines");
const EXTRACTION = { path: "$root", type: "page", nameField: "name" };

export function pageTools({ database, now }: Site): AnyTool[] {
  function create(given: { name: string; slug?: string | undefined; description: string }): Page {
    const wanted = given.slug ?? toSlug(given.name);
    checkSlugFree(database, "pages", wanted);
    const [id, at] = [nextId(database, "page"), now()];
    const sql = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)";
    run(database, sql, id, wanted, given.name, given.description, at, at);
    return getPage(database, id);
  }

  /** Everything that is deleted with a page: its sections, and menu items that link to it. */
  function planDeletion(reference: string) {
    const { id, slug: address, name: label } = getPage(database, reference);
    const links = "SELECT id, label FROM navigation WHERE url = ? ORDER BY position";
    return {
      page: { id, name: label },
      sections: sectionsOf(database, id).map((section) => section.id),
      navigation_items_left_behind: all<{ id: string; label: string }>(database, links, `/${address}`),
    };
  }

  return [
    defineTool({
      name: "cms_getPage",
      description: "Gets one page of the website by id or slug: its name, address, description and sections.",
      category: "pages",
      phrases: ["get page", "find page", "show page", "page details"],
      relatedTools: ["cms_getPageSections", "cms_updatePage", "cms_listPages"],
      riskLevel: "safe",
      extraction: EXTRACTION,
      inputSchema: z.object({ page }),
      examples: [{ args: { page: "home" } }],
      execute: (params) => {
        const found = getPage(database, params.page);
        const sections = sectionsOf(database, found.id).map(({ id, template, name: title }) => ({
          id,
          template,
          name: title,
        }));
        return { ...found, sections };
      },
    }),

    defineTool({
      name: "cms_createPage",
      description: "Creates a new, empty page. Add sections to it afterwards.",
      category: "pages",
      phrases: ["create page", "new page", "add page"],
      relatedTools: ["cms_addSectionToPage", "cms_listSectionTemplates", "cms_addNavigationItem"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({ name, slug: slug.optional(), description: description.default("") }),
      examples: [{ args: { name: "Workshops", description: "Courses in the model workshop." } }],
      policy: {
        do: ["List the pages first: it may exist"],
        dont: ["Pages that differ from another one only by name"],
      },
      execute: (params) => inTransaction(database, () => create(params)),
    }),

    defineTool({
      name: "cms_createPageWithContent",
      description: "Creates a page together with its sections and their text, all of it or nothing.",
      category: "pages",
      phrases: ["create page with content", "make page with sections"],
      relatedTools: ["cms_listSectionTemplates", "cms_getSectionFields", "cms_addImageToSection"],
      riskLevel: "moderate",
      extraction: { path: "page", type: "page", nameField: "name" },
      inputSchema: z.object({
        name,
        slug: slug.optional(),
        description: description.default(""),
        sections: z
          .array(
            z.object({
              template: z.enum(TEMPLATE_KEYS),
              name: z.string().trim().min(1).max(80),
              content: z.record(z.string(), z.string()).describe("Text by field of the template"),
            }),
          )
          .min(1)
          .max(20),
      }),
      examples: [
        {
          args: {
            name: "Workshops",
            sections: [{ template: "hero", name: "Workshops hero", content: { heading: "Learn to plane" } }],
          },
        },
      ],
      execute: ({ sections, ...params }) =>
        inTransaction(database, () => {
          const created = create(params);
          const added = sections.map((section) => insertSection(database, created.id, section, now()));
          return { page: created, sections: added };
        }),
    }),

    defineTool({
      name: "cms_updatePage",
      description: "Changes the name, slug or description of a page. Its sections stay as they are.",
      category: "pages",
      phrases: ["update page", "edit page", "change page"],
      relatedTools: ["cms_getPage", "cms_updateSectionContent"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({
        page,
        name: name.optional(),
        slug: slug.optional(),
        description: description.optional(),
      }),
      examples: [{ args: { page: "press", name: "Press and awards" } }],
      execute: (params) => {
        const old = getPage(database, params.page);
        const changed = {
          slug: params.slug ?? old.slug,
          name: params.name ?? old.name,
          description: params.description ?? old.description,
        };
        checkSlugFree(database, "pages", changed.slug, old.id);
        const sql = "UPDATE pages SET slug = ?, name = ?, description = ?, updated_at = ? WHERE id = ?";
        run(database, sql, changed.slug, changed.name, changed.description, now(), old.id);
        return getPage(database, old.id);
      },
    }),

    defineTool({
      name: "cms_deletePage",
      description: "Deletes a page with all of its sections. Images stay in the library.",
      category: "pages",
      phrases: ["delete page", "remove page"],
      relatedTools: ["cms_listPages", "cms_removeNavigationItem"],
      riskLevel: "destructive",
      requiresConfirmation: true,
      extraction: null,
      inputSchema: z.object({ page }),
      examples: [{ args: { page: "press" } }],
      notes: ["Menu items that lead to the page are named in the answer and stay: remove them too."],
      dryRun: (params) => ({ would_delete: planDeletion(params.page) }),
      execute: (params) => {
        const plan = planDeletion(params.page);
        run(database, "DELETE FROM pages WHERE id = ?", plan.page.id);
        return { deleted: plan };
      },
    }),

    defineTool({
      name: "cms_listPages",
      description: "Lists all pages of the website with their slugs and how many sections each has.",
      category: "pages",
      phrases: ["list pages", "show all pages", "what pages exist"],
      relatedTools: ["cms_getPage", "cms_createPage"],
      riskLevel: "safe",
      extraction: { path: "pages", type: "page", nameField: "name", isArray: true },
      inputSchema: z.object({
        limit: z.int().min(1).max(100).default(50),
        offset: z.int().min(0).default(0),
      }),
      examples: [{ args: {} }, { args: { limit: 5, offset: 5 }, note: "the second five" }],
      execute: ({ limit, offset }) => {
        const counted = "(SELECT count(*) FROM sections WHERE page_id = pages.id) AS section_count";
        const sql = `SELECT id, slug, name, description, ${counted} FROM pages ORDER BY created_at, rowid
          LIMIT ? OFFSET ?`;
        const total = one<{ total: number }>(database, "SELECT count(*) AS total FROM pages")!;
        return { ...total, pages: all(database, sql, limit, offset) };
      },
    }),
  ];
}
