import { join } from "node:path";
import { Client, InMemoryTransport, type Tool } from "@modelcontextprotocol/client";
import { createGateway, type Gateway, loadTokenCounter, type TokenCounter } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { fromMcpConfig } from "keyhole/sources";
import { installTool } from "./tool.ts";

/** The need that the page asks for. */
const QUERY = "read the first lines of a file";
const NEEDS = [
  "remember that Ada keeps the ledger",
  "take a screenshot of a web page",
  "comment on a pull request",
];

/**
 * The part of the README that shows what a model sees over MCP: the menu over four servers of the MCP project, and one
 * answer, each with its tokens. The servers run, so that nothing of it is written by hand.
 */
export function modelView(): Promise<string> {
  return viewed(fourServers(), viewOf);
}

/** The part of docs/mcp.md: the menu over eight servers of npm, and the answers to three needs. */
export function eightServersView(): Promise<string> {
  return viewed({ ...fourServers(), ...fourMore() }, viewOfEight);
}

async function viewed(
  mcpServers: Record<string, object>,
  write: (gateway: Gateway, client: Client) => Promise<string>,
): Promise<string> {
  const gateway = createGateway({
    sources: fromMcpConfig({ mcpServers }, { trusted: true }),
    principal: { id: "me", scopes: [], allowWrite: true },
  });
  const server = createMcpServer(gateway);
  const client = new Client({ name: "docs", version: "1" });
  try {
    await gateway.sources.refresh();
    const [near, far] = InMemoryTransport.createLinkedPair();
    server.connect(far);
    await client.connect(near);
    return await write(gateway, client);
  } finally {
    await client.close();
    await server.close();
    await gateway.close();
  }
}

async function viewOfEight(gateway: Gateway, client: Client): Promise<string> {
  const count = await loadTokenCounter();
  const { tools } = await client.listTools();
  const { entries } = await gateway.view();
  const listed = entries.filter(({ kind }) => kind === "tool").length;
  const menu = menuTokens(tools, count);
  const answers = [];
  for (const query of NEEDS) {
    const { content } = await client.callTool({ name: "ask", arguments: { query } });
    const answer = content[0]?.type === "text" ? content[0].text : "";
    answers.push(`\`ask\` for "${query}", ${count(answer)} tokens:`, "", "```text", answer, "```", "");
  }
  return [
    `Eight servers of npm have ${listed} tools. What clients pass on of the menu takes ${menu} tokens, and its search tool says this of them:`,
    "",
    "```text",
    tools[0]!.description,
    "```",
    "",
    ...answers.slice(0, -1),
  ].join("\n");
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
  const menu = menuTokens(tools, count);
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

function fourServers(): Record<string, object> {
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

function fourMore(): Record<string, object> {
  const bin = join(installTool("servers"), "node_modules/.bin");
  const server = (program: string) => ({ command: process.execPath, args: [join(bin, program)] });
  return {
    github: server("mcp-server-github"),
    notion: server("notion-mcp-server"),
    playwright: server("playwright-mcp"),
    chrome: server("chrome-devtools-mcp"),
  };
}

/** The tokens of the fields that clients hand to a model. */
function menuTokens(tools: readonly Tool[], count: TokenCounter): number {
  return tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + count(JSON.stringify({ name, description, inputSchema })),
    0,
  );
}
