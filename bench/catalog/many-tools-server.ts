// A server with many tools, in pages: node many-tools-server.ts LABEL COUNT.
import { Server, type Tool } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PAGE = 1_000;
const VERBS = ["create", "read", "update", "delete", "list", "search", "export", "archive", "share", "merge"];
const THINGS = [
  "invoice",
  "ticket",
  "calendar",
  "contact",
  "deployment",
  "report",
  "folder",
  "payment",
  "branch",
];
const PLACES = ["office", "warehouse", "archive", "customer", "project", "region", "team", "vendor"];

const [label = "server", count = "0"] = process.argv.slice(2);
const tools = Array.from({ length: Number(count) }, (_, index) => toTool(index));

function toTool(index: number): Tool {
  const pick = (words: readonly string[], by: number) => words[Math.floor(index / by) % words.length]!;
  const verb = pick(VERBS, 1);
  const thing = pick(THINGS, VERBS.length);
  const place = pick(PLACES, VERBS.length * THINGS.length);
  return {
    name: `${verb}_${thing}_${index}`,
    description: `Use this to ${verb} the ${thing} of a ${place} in ${label}, number ${index}.`,
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", description: `The id of the ${thing}.` },
        [place]: { type: "string" },
        limit: { type: "integer", minimum: 1, maximum: 100 },
      },
      required: ["id"],
    },
    annotations: { readOnlyHint: verb === "read" || verb === "list" },
  };
}

serveStdio(() => {
  const server = new Server({ name: label, version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async ({ params }) => {
    const start = Number(params?.cursor ?? 0);
    const next = start + PAGE;
    return {
      tools: tools.slice(start, next),
      ...(next < tools.length && { nextCursor: String(next) }),
    };
  });
  server.setRequestHandler("tools/call", async ({ params }) => ({
    content: [{ type: "text", text: params.name }],
  }));
  return server;
});
