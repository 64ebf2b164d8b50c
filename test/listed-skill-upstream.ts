import { createHash } from "node:crypto";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

// A stdio server that lists the manifest of its skill among its resources, as many servers do.
const URI = "skill://pricing/SKILL.md";
const text = "---\nname: pricing\ndescription: Helps with pricing.\n---\nTake all costs.\n";
const digest = `sha256:${createHash("sha256").update(text).digest("hex")}`;
const skill = {
  uri: URI,
  frontmatter: { name: "pricing", description: "Helps with pricing." },
  resources: [{ uri: URI, digest, size: Buffer.byteLength(text) }],
};

serveStdio(() => {
  const server = new Server(
    { name: "pricing", version: "1" },
    { capabilities: { resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } } },
  );
  const resources = [
    { name: "pricing", uri: URI, description: "Helps with pricing.", mimeType: "text/markdown" },
    { name: "prices", uri: "doc://prices", description: "The list of prices." },
  ];
  server.setRequestHandler("resources/list", async () => ({ resources }));
  server.setRequestHandler("resources/templates/list", async () => ({ resourceTemplates: [] }));
  server.setRequestHandler("skills/list", { params: z.object({}) }, async () => ({
    skills: [skill],
    ttlMs: 0,
    cacheScope: "private",
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => ({ contents: [{ uri, text }] }));
  return server;
});
