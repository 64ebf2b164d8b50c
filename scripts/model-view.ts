import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createGateway, type Gateway, loadTokenCounter } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { fromMcpConfig } from "keyhole/sources";

/** The need that the page asks for. */
const QUERY = "read the first lines of a file";

/**
 * The part of the README that shows what a model sees over MCP: the menu over four servers of the MCP project, and one
 * answer, each with its tokens. The servers run, so that nothing of it is written by hand.
 */
export async function modelView(): Promise<string> {
  const gateway = createGateway({
    sources: fromMcpConfig({ mcpServers: servers() }, { trusted: true }),
    principal: { id: "me", scopes: [], allowWrite: true },
  });
  const server = createMcpServer(gateway);
  const client = new Client({ name: "docs", version: "1" });
  try {
    await gateway.sources.refresh();
    const [near, far] = InMemoryTransport.createLinkedPair();
    server.connect(far);
    await client.connect(near);
    return await viewOf(gateway, client);
  } finally {
    await client.close();
    await server.close();
    await gateway.close();
  }
}

async function viewOf(gateway: Gateway, client: Client): Promise<string> {
  const count = await loadTokenCounter();
  const written = (tokens: number) => tokens.toLocaleString("en");
  const { tools } = await client.listTools();
  const instructions = client.getInstructions() ?? "";
  const { content } = await client.callTool({ name: "ask", arguments: { query: QUERY } });
  const answer = content[0]?.type === "text" ? content[0].text : "";
  const { entries } = await gateway.view();
  const listed = entries.filter(({ kind }) => kind === "tool");
  const before = listed.reduce((sum, { origin }) => {
    const { name, description, inputSchema } = origin?.definition ?? {};
    return sum + count(JSON.stringify({ name, description, inputSchema }));
  }, 0);
  const menu = tools.reduce((sum, tool) => sum + count(JSON.stringify(tool)), 0);
  return [
    `Four servers of the MCP project have ${listed.length} tools: ${written(before)} tokens in every request of a client that lists them, ${written(menu)} behind Keyhole, and ${written(count(instructions))} for its instructions. This is all that the model sees of them:`,
    "",
    "```text",
    instructions,
    "",
    ...tools.map(
      ({ name, description, inputSchema }) =>
        `${name}(${Object.keys(inputSchema.properties ?? {}).join(", ")})\n  ${description}`,
    ),
    "```",
    "",
    `And this is the answer to \`ask\` for "${QUERY}", ${count(answer)} tokens. The model calls what it found, without another step:`,
    "",
    "```text",
    answer,
    "```",
  ].join("\n");
}

function servers(): Record<string, object> {
  const server = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, ...args],
  });
  return {
    everything: server("everything", "stdio"),
    files: server("filesystem", "."),
    memory: server("memory"),
    thinking: server("sequential-thinking"),
  };
}
