import { type AnyTool, defineTool } from "keyhole";
import { z } from "zod";
import type { Site } from "../site.ts";
import type { WebAnswer } from "../web.ts";

const url = z.url().max(500).describe("An https address; here, one of the sites of the loopback server");

export function httpTools({ web }: Site): AnyTool[] {
  return [
    defineTool({
      name: "http_get",
      description: "Sends a GET request to an external API and answers with its status and body.",
      category: "http",
      phrases: ["http get", "call external api", "get request", "fetch json from url"],
      relatedTools: ["http_post", "web_fetchContent"],
      riskLevel: "safe",
      extraction: null,
      inputSchema: z.object({ url }),
      examples: [{ args: { url: "https://weather.example/today?city=Bergen" } }],
      execute: async (params, { signal }) => toResult(await web.send(params.url, { signal })),
    }),

    defineTool({
      name: "http_post",
      description: "Sends a POST request with a JSON body to an external API.",
      category: "http",
      phrases: ["http post", "post request", "send data to api", "call webhook"],
      relatedTools: ["http_get"],
      riskLevel: "moderate",
      extraction: null,
      inputSchema: z.object({ url, body: z.record(z.string(), z.unknown()) }),
      examples: [
        { args: { url: "https://newsletter.example/subscribers", body: { email: "ana@visitor.example" } } },
      ],
      notes: ["A request is sent once and never repeated by itself."],
      execute: async (params, { signal }) => {
        const headers = { "content-type": "application/json" };
        const body = JSON.stringify(params.body);
        return toResult(await web.send(params.url, { method: "POST", headers, body, signal }));
      },
    }),
  ];
}

function toResult({ status, type, text }: WebAnswer) {
  return { status, ok: status < 400, body: type.startsWith("application/json") ? JSON.parse(text) : text };
}
