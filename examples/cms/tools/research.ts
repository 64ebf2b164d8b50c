import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";
import type { Site } from "../site.ts";

interface Result {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

const query = z.string().trim().min(1).max(300);

export function researchTools({ web }: Site): AnyTool[] {
  async function search(words: string, limit: number, signal: AbortSignal): Promise<Result[]> {
    const { text } = await web.read(`https://search.example/?q=${encodeURIComponent(words)}`, { signal });
    return (JSON.parse(text) as { results: Result[] }).results.slice(0, limit);
  }

  async function readPage(url: string, signal: AbortSignal) {
    const { text } = await web.read(url, { signal });
    return toText(text);
  }

  return [
    defineTool({
      name: "web_quickSearch",
      op: "cms.web.search",
      description: "Searches the web and answers with titles, addresses and snippets.",
      category: "research",
      phrases: ["search the web", "quick web search", "google", "look up online"],
      relatedTools: ["web_fetchContent", "web_deepResearch"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({ query, limit: z.int().min(1).max(10).default(5) }),
      examples: [{ args: { query: "snow loads on roofs" } }],
      execute: async (params, { signal }) => ({
        results: await search(params.query, params.limit, signal),
      }),
    }),

    defineTool({
      name: "web_deepResearch",
      op: "cms.web.research",
      description:
        "Researches a question on the web: searches, reads the best sources and quotes what bears on it.",
      category: "research",
      phrases: ["deep research", "research a topic", "investigate with several sources"],
      relatedTools: ["web_quickSearch", "web_fetchContent", "cms_createPost"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({ question: query, sources: z.int().min(1).max(5).default(3) }),
      examples: [{ args: { question: "Which snow loads must a cabin roof carry?" } }],
      execute: async ({ question, sources }, { signal }) => {
        const found = await search(question, sources, signal);
        const wanted = new Set(wordsOf(question));
        const findings = await Promise.all(
          found.map(async ({ url, title }) => {
            const { paragraphs } = await readPage(url, signal);
            const quotes = paragraphs.filter((text) => wordsOf(text).some((word) => wanted.has(word)));
            return { source: url, title, quotes };
          }),
        );
        return { question, findings };
      },
    }),

    defineTool({
      name: "web_fetchContent",
      op: "cms.web.content.fetch",
      description: "Fetches a web page and answers with its title and readable text.",
      category: "research",
      phrases: ["fetch web page", "read url", "get content of a website", "open this link"],
      relatedTools: ["web_quickSearch", "http_get"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({ url: z.url().max(500), maxChars: z.int().min(100).max(20_000).default(5_000) }),
      examples: [{ args: { url: "https://timber-review.example/untreated-larch" } }],
      execute: async ({ url, maxChars }, { signal }) => {
        const { title, paragraphs } = await readPage(url, signal);
        return { url, title, text: paragraphs.join("\n\n").slice(0, maxChars) };
      },
    }),
  ];
}

/** Returns title and paragraphs of a page without markup, in one pass. */
function toText(html: string): { title: string; paragraphs: string[] } {
  const inside = (name: string) =>
    html
      .split(`<${name}>`)
      .slice(1)
      .map((part) => part.split(`</${name}>`, 1)[0]!.split("<", 1)[0]!.trim());
  return { title: inside("title")[0] ?? "", paragraphs: inside("p") };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
}
