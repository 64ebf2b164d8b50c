import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";

/** Words that show the subject of a part of a task. The first match decides. */
const SIGNS: readonly (readonly [category: string, words: readonly string[]])[] = [
  ["pexels", ["pexels", "stock"]],
  ["research", ["research", "web", "online", "source"]],
  ["navigation", ["navigation", "menu"]],
  ["images", ["image", "images", "picture", "pictures", "photo", "photos", "alt"]],
  ["posts", ["post", "posts", "article", "articles", "blog", "draft"]],
  ["sections", ["section", "sections", "hero", "gallery", "heading", "quote"]],
  ["entries", ["entry", "entries", "collection", "testimonial", "testimonials"]],
  ["pages", ["page", "pages"]],
  ["http", ["api", "http", "webhook", "request"]],
  ["search", ["search", "find"]],
];
const CLAUSES = /[,;.]|\b(?:and|then|with)\b/i;

export function planningTools(): AnyTool[] {
  return [
    defineTool({
      name: "plan_analyzeTask",
      op: "cms.plan.task.analyze",
      description:
        "Analyses a task before work begins: splits it into steps and says which kind of tool each step needs.",
      category: "planning",
      phrases: ["analyze task", "plan steps", "break down a complex request"],
      relatedTools: ["cms_findResource", "search_vector"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({ task: z.string().trim().min(1).max(1_000) }),
      examples: [{ args: { task: "Create about page with hero and image" } }],
      notes: ["Type A needs no tools, B one kind of tool, C several."],
      execute: ({ task }) => {
        const steps = task
          .split(CLAUSES)
          .map((part) => part.trim())
          .filter((part) => part !== "")
          .map((step) => ({ step, category: categoryOf(step) }))
          .filter(({ category }) => category !== undefined);
        const kinds = new Set(steps.map(({ category }) => category)).size;
        const isQuestion = /^(?:what is|what are|why|hello|hi)\b/i.test(task);
        const type = kinds === 0 || isQuestion ? "A" : kinds === 1 ? "B" : "C";
        return { task, type, steps: type === "A" ? [] : steps };
      },
    }),
  ];
}

function categoryOf(step: string): string | undefined {
  const words: readonly string[] = step.toLowerCase().match(/\p{L}+/gu) ?? [];
  return SIGNS.find(([, signs]) => signs.some((sign) => words.includes(sign)))?.[0];
}
