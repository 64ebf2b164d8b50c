// The web, here one small site. Every request goes through the guarded fetch, which refuses other private hosts.
import { type AnyTool, defineTool, problem } from "keyhole";
import { z } from "zod";
import { toText } from "../site/html.ts";
import type { Web } from "../site/web.ts";

const MOST_CHARS = 20_000;

export function webTools(web: Web): AnyTool[] {
  return [
    // util.web.search
    defineTool({
      name: "web_search",
      description: "Searches the web and answers titles, addresses and excerpts of pages.",
      inputSchema: z.strictObject({
        query: z.string().trim().min(1).max(200),
        limit: z.int().min(1).max(20).default(5),
      }),
      examples: [{ args: { query: "rate limit", limit: 3 } }],
      phrases: ["search the internet", "google it", "look it up online"],
      guidance: [{ route: "web_visit", prose: "Read one of the pages." }],
      async execute({ query, limit }, { signal }) {
        const path = `/search?${new URLSearchParams({ q: query, limit: String(limit) })}`;
        const { body, address } = await web.read(path, signal);
        const { results } = JSON.parse(body) as { results: { url: string }[] };
        return { results: results.map((hit) => ({ ...hit, url: String(new URL(hit.url, address)) })) };
      },
    }),

    // util.web.visit
    defineTool({
      name: "web_visit",
      description: "Reads one web page as plain text.",
      inputSchema: z.strictObject({
        url: z
          .string()
          .min(1)
          .max(2_000)
          .describe("From web_search; a path such as /guides/planning is of the site at hand"),
        max_chars: z.int().min(100).max(MOST_CHARS).default(5_000),
      }),
      examples: [{ args: { url: "/guides/rate-limits" } }],
      phrases: ["open a link", "read a web page", "fetch a URL"],
      async execute({ url, max_chars }, { signal }) {
        const { status, body, address } = await web.read(url, signal);
        if (status === 404) throw problem("NOT_FOUND", { name: `page ${address}` });
        const { title, text } = toText(body);
        return { url: address, title, text: text.slice(0, max_chars), more: text.length > max_chars };
      },
    }),
  ];
}
