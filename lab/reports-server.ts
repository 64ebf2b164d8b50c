// An MCP server over stdio whose tools answer in every way that a client has to carry: text, many rows, an error, a
// picture, half a character, a long silence, and a call that a person must approve.
import { createInterface } from "node:readline";
import { BROKEN_TEXT, FAILURE, LEDGER, LOGO, REPORT } from "./reports.ts";

type Params = Record<string, unknown>;

interface Tool {
  readonly description: string;
  readonly properties?: Record<string, object>;
  readonly isDestructive?: boolean;
  run(args: Params): object | Promise<object>;
}

const text = (value: string) => ({ content: [{ type: "text", text: value }] });

const TOOLS: Readonly<Record<string, Tool>> = {
  read_report: { description: "Read the quarterly report of revenue by region.", run: () => text(REPORT) },
  read_ledger: { description: "Read all bookings of the year.", run: () => text(JSON.stringify(LEDGER)) },
  read_broken: {
    description: "Read a report whose text was damaged on its way.",
    // The escape becomes half of a pair in the client of this server.
    run: () => text(BROKEN_TEXT),
  },
  read_failing: {
    description: "Read a report from the archive.",
    run: () => ({ ...text(FAILURE), isError: true }),
  },
  read_logo: {
    description: "Read the logo of the company.",
    run: () => ({ content: [{ type: "image", data: LOGO, mimeType: "image/png" }] }),
  },
  read_slowly: {
    description: "Read a report from the tape.",
    properties: { seconds: { type: "number" } },
    run: async ({ seconds }) => {
      await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1_000));
      return text("The tape has been read.");
    },
  },
  delete_report: {
    description: "Delete a report for ever.",
    properties: { id: { type: "string" } },
    isDestructive: true,
    run: ({ id }) => text(`Report ${id} is deleted.`),
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const result = await answer(method, params);
  const error = { code: -32601, message: "Method not found" };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) })}\n`);
});

async function answer(method: string, params: Params): Promise<object | undefined> {
  if (method === "initialize") {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "reports", version: "1.0.0" },
      instructions: "Reports of the company.",
    };
  }
  if (method === "tools/list") return { tools: Object.entries(TOOLS).map(toListed) };
  if (method === "tools/call") return TOOLS[String(params.name)]?.run((params.arguments ?? {}) as Params);
  return undefined;
}

function toListed([name, { description, properties = {}, isDestructive = false }]: [string, Tool]): object {
  const annotations = isDestructive ? { destructiveHint: true } : { readOnlyHint: true };
  return { name, description, inputSchema: { type: "object", properties }, annotations };
}
