// A server built on an SDK other than the official one. Tests start it.
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";
import { z } from "zod";

const server = new McpServer(
  { name: "calculator", version: "1.0.0", description: "Calculates." },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {}, prompts: {}, resources: {} } },
);
server.tool(
  {
    name: "add_numbers",
    description: "Adds two numbers.",
    schema: z.object({ one: z.number(), other: z.number() }),
    annotations: { readOnlyHint: true },
  },
  ({ one, other }) => ({ content: [{ type: "text", text: String(one + other) }] }),
);
server.prompt({ name: "explain", description: "Explains a sum." }, () => ({
  messages: [{ role: "user", content: { type: "text", text: "Explain the sum." } }],
}));
new StdioTransport(server).listen();
