import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import { inTransaction, run } from "../database.ts";
import { getPage, getSection, sectionsOf } from "../records.ts";
import { deleteSections, insertSection } from "../sections.ts";
import type { Site } from "../site.ts";
import { checkContent, TEMPLATE_KEYS, TEMPLATES, templateOf } from "../templates.ts";

const page = z.string().min(1).max(100).describe("Id or slug of the page");
const section = z.string().min(1).max(100).describe("Id of the section, as listed for its page");
const content = z.record(z.string(), z.string()).describe("Text by field; the fields depend on the template");
const EXTRACTION = { path: "section", type: "section", nameField: "name" };

export function sectionTools({ database, now }: Site): AnyTool[] {
  function planDeletion(reference: string, ids: readonly string[]) {
    const { id, name } = getPage(database, reference);
    const sections = [...new Set(ids)].map((wanted) => getSection(database, wanted));
    const elsewhere = sections.find(({ page_id }) => page_id !== id);
    if (elsewhere) throw problem("CONFLICT", { reason: `${elsewhere.id} is not a section of ${name}.` });
    return { page: { id, name }, sections: sections.map((one) => ({ id: one.id, name: one.name })) };
  }

  function remove(plan: ReturnType<typeof planDeletion>) {
    const ids = plan.sections.map(({ id }) => id);
    inTransaction(database, () => deleteSections(database, plan.page.id, ids));
    return { deleted: plan };
  }

  return [
    defineTool({
      name: "cms_listSectionTemplates",
      description: "Lists the templates that a section can have, such as hero, gallery or quote.",
      category: "sections",
      phrases: ["list section templates", "what section types are there", "available templates"],
      relatedTools: ["cms_getSectionFields", "cms_addSectionToPage"],
      riskLevel: "safe",
      extraction: {
        path: "templates",
        type: "section_template",
        nameField: "name",
        idField: "key",
        isArray: true,
      },
      inputSchema: z.object({}),
      examples: [{ args: {} }],
      execute: () => ({
        templates: TEMPLATES.map(({ key, name, description }) => ({ key, name, description })),
      }),
    }),

    defineTool({
      name: "cms_getSectionFields",
      description: "Gets the field names, types and limits of a section template, before content is written.",
      category: "sections",
      phrases: ["get section fields", "which fields does a section have", "template fields"],
      relatedTools: ["cms_updateSectionContent", "cms_updateSectionImage", "cms_listSectionTemplates"],
      riskLevel: "safe",
      extraction: { path: "$root", type: "section_template", nameField: "name", idField: "key" },
      inputSchema: z.object({ template: z.enum(TEMPLATE_KEYS) }),
      examples: [{ args: { template: "hero" } }],
      execute: ({ template }) => templateOf(template),
    }),

    defineTool({
      name: "cms_addSectionToPage",
      description: "Adds a section with its content to a page, at the end or at a position.",
      category: "sections",
      phrases: ["add section to page", "new section", "insert section", "put a hero on the page"],
      relatedTools: ["cms_getSectionFields", "cms_listSectionTemplates", "cms_addImageToSection"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({
        page,
        template: z.enum(TEMPLATE_KEYS),
        name: z.string().trim().min(1).max(80).describe("Name of the section, for editors"),
        content,
        position: z.int().min(0).max(100).optional().describe("Place on the page, from 0"),
      }),
      examples: [
        {
          args: {
            page: "team",
            template: "quote",
            name: "What clients say",
            content: { quote: "They answer letters.", author: "Voss council" },
          },
        },
      ],
      execute: ({ page: reference, ...given }) =>
        inTransaction(database, () => {
          const { id } = getPage(database, reference);
          return { section: insertSection(database, id, given, now()) };
        }),
    }),

    defineTool({
      name: "cms_updateSectionContent",
      description: "Changes text fields of a section, such as its heading. Fields that are left out stay.",
      category: "sections",
      phrases: ["update section", "edit section content", "change heading", "change the text of a section"],
      relatedTools: ["cms_getSectionFields", "cms_getSectionContent", "cms_updateSectionImage"],
      riskLevel: "moderate",
      extraction: EXTRACTION,
      inputSchema: z.object({ section, content }),
      examples: [{ args: { section: "sec_home-hero", content: { heading: "Houses for wind and snow" } } }],
      execute: ({ section: id, content: changes }) => {
        const { template, content: old } = getSection(database, id);
        checkContent(templateOf(template), changes, false);
        const sql = "UPDATE sections SET content = ?, updated_at = ? WHERE id = ?";
        run(database, sql, JSON.stringify({ ...old, ...changes }), now(), id);
        return { section: getSection(database, id) };
      },
    }),

    defineTool({
      name: "cms_deletePageSection",
      description: "Deletes one section from a page. Its images stay in the library.",
      category: "sections",
      phrases: ["delete section", "remove section from page"],
      relatedTools: ["cms_getPageSections", "cms_deletePageSections"],
      riskLevel: "destructive",
      requiresConfirmation: true,
      extraction: null,
      inputSchema: z.object({ page, section }),
      examples: [{ args: { page: "press", section: "sec_a-critic" } }],
      dryRun: (params) => ({ would_delete: planDeletion(params.page, [params.section]) }),
      execute: (params) => remove(planDeletion(params.page, [params.section])),
    }),

    defineTool({
      name: "cms_deletePageSections",
      description: "Deletes several sections from a page at once: those that are named, or none.",
      category: "sections",
      phrases: ["delete several sections", "remove multiple sections", "clear page sections"],
      relatedTools: ["cms_getPageSections", "cms_deletePageSection"],
      riskLevel: "destructive",
      requiresConfirmation: true,
      extraction: null,
      inputSchema: z.object({ page, sections: z.array(section).min(1).max(50) }),
      examples: [{ args: { page: "press", sections: ["sec_press-pictures", "sec_a-critic"] } }],
      dryRun: (params) => ({ would_delete: planDeletion(params.page, params.sections) }),
      execute: (params) => remove(planDeletion(params.page, params.sections)),
    }),

    defineTool({
      name: "cms_getPageSections",
      description: "Gets the sections of a page in their order, with ids, templates and images.",
      category: "sections",
      phrases: ["get page sections", "list sections of a page", "what is on the page"],
      relatedTools: ["cms_getSectionContent", "cms_addSectionToPage"],
      riskLevel: "safe",
      extraction: { path: "sections", type: "section", nameField: "name", isArray: true },
      inputSchema: z.object({ page }),
      examples: [{ args: { page: "home" } }],
      execute: (params) => {
        const { id, name } = getPage(database, params.page);
        const sections = sectionsOf(database, id).map(({ content: _, page_id: __, ...rest }) => rest);
        return { page: { id, name }, sections };
      },
    }),

    defineTool({
      name: "cms_getSectionContent",
      description: "Gets one section with all of its text and images, for example the heading of the hero.",
      category: "sections",
      phrases: ["get section content", "read section", "show section text", "what does the hero say"],
      relatedTools: ["cms_updateSectionContent", "cms_getPageSections"],
      riskLevel: "safe",
      extraction: EXTRACTION,
      inputSchema: z.object({ section }),
      examples: [{ args: { section: "sec_home-hero" } }],
      execute: (params) => ({ section: getSection(database, params.section) }),
    }),
  ];
}
