// The ways in which a model gets the same servers. `listed`: every tool in every request. `deferred`: the names of all
// tools in the instructions and a search that loads definitions, as clients that defer do it. `lanes` and `code`: the
// program `keyhole serve` with that surface, and nothing else.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type JSONSchema7, jsonSchema, type PrepareStepFunction, type ToolSet, tool } from "ai";
import { z } from "zod";
import type { EvalServer, World } from "./world.ts";

export const ARMS = ["listed", "deferred", "lanes", "code"] as const;
export type ArmName = (typeof ARMS)[number];

/** The tools of one conversation. */
export interface Arm {
  readonly tools: ToolSet;
  readonly instructions: string;
  /** The tools of the next request. Default: all. */
  readonly active?: () => string[];
  close(): Promise<void>;
}

const PROGRAM = resolve(import.meta.dirname, "../../src/program/main.ts");
const TASK = "Do what the user asks for with your tools, without asking back. Then answer in one sentence.";

/** The arms over one world. Direct servers keep nothing of a conversation, so they serve all of them. */
export interface Arms {
  open(name: ArmName): Promise<Arm>;
  close(): Promise<void>;
}

export async function openArms(world: World, names: readonly ArmName[]): Promise<Arms> {
  if (names.includes("lanes") || names.includes("code")) await listServers(world);
  const isDirect = names.includes("listed") || names.includes("deferred");
  const listed = isDirect ? await openListed(world) : undefined;
  return {
    open: async (name) => {
      if (name === "lanes" || name === "code") return openKeyhole(name, world);
      const shared = { ...listed!, close: async () => {} };
      return name === "listed" ? shared : deferTools(shared);
    },
    close: async () => listed?.close(),
  };
}

/** Marks the end of each request, up to which Anthropic then caches it. Other providers cache by themselves. */
export const markCached: PrepareStepFunction<ToolSet> = ({ messages }) => ({
  messages: messages.map((message, at) =>
    at < messages.length - 1
      ? message
      : { ...message, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
  ),
});

async function openListed({ servers }: World): Promise<Arm> {
  const connected = await Promise.all(
    Object.entries(servers).map(async ([name, server]) => ({ name, client: await connect(server) })),
  );
  const sets = await Promise.all(
    connected.map(({ name, client }) => toolsOf(client, (each) => `${name}__${each}`)),
  );
  const readers = connected.filter(({ client }) => client.getServerCapabilities()?.resources);
  const told = connected.flatMap(({ name, client }) => {
    const text = client.getInstructions();
    return text ? `# ${name}\n${text}` : [];
  });
  return {
    tools: {
      ...Object.assign({}, ...sets),
      ...resourceTools(new Map(readers.map(({ name, client }) => [name, client]))),
    },
    instructions: [TASK, ...told].join("\n\n"),
    close: async () => void (await Promise.all(connected.map(({ client }) => client.close()))),
  };
}

/** The two tools by which clients let a model read what servers offer beside tools. */
function resourceTools(clients: ReadonlyMap<string, Client>): ToolSet {
  const server = z.enum([...clients.keys()] as [string, ...string[]]);
  return {
    list_resources: tool({
      description: "Lists the resources of a server: uri, name, description.",
      inputSchema: z.object({ server }),
      execute: async (input) => {
        const { resources } = await clients.get(input.server)!.listResources();
        return resources.map(({ uri, name, description }) => ({ uri, name, description }));
      },
    }),
    read_resource: tool({
      description: "Reads a resource of a server.",
      inputSchema: z.object({ server, uri: z.string() }),
      execute: async (input) => {
        const { contents } = await clients.get(input.server)!.readResource({ uri: input.uri });
        return contents.map((content) => ("text" in content ? content.text : content.uri)).join("\n");
      },
    }),
  };
}

const MOST_FOUND = 5;

/** Claude Code's way: names in the prompt, `select:a,b` or words to load definitions. */
function deferTools({ tools, instructions, close }: Arm): Arm {
  const names = Object.keys(tools);
  const loaded = new Set<string>();
  const tool_search = tool({
    description:
      'Loads tools. query: "select:NAME,NAME" for tools by name, or words to search names and descriptions.',
    inputSchema: z.object({ query: z.string(), max_results: z.int().optional() }),
    execute: ({ query, max_results = MOST_FOUND }) => {
      const found = findTools(query, tools).slice(0, query.startsWith("select:") ? undefined : max_results);
      for (const name of found) loaded.add(name);
      return found.length > 0 ? `Loaded: ${found.join(", ")}` : "No tool fits.";
    },
  });
  return {
    tools: { ...tools, tool_search },
    instructions: `${instructions}\n\nTools that tool_search loads:\n${names.join("\n")}`,
    active: () => ["tool_search", ...loaded],
    close,
  };
}

/** Tools by name, or those with most of the words, in the name before the description. */
function findTools(query: string, tools: ToolSet): string[] {
  const names = Object.keys(tools);
  if (query.startsWith("select:")) {
    const wanted = query.slice("select:".length).split(",");
    return wanted.map((name) => name.trim()).filter((name) => names.includes(name));
  }
  const words = query.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const scoreOf = (name: string) => {
    const description = String(tools[name]!.description ?? "").toLowerCase();
    return words.reduce(
      (sum, word) => sum + (name.toLowerCase().includes(word) ? 3 : description.includes(word) ? 1 : 0),
      0,
    );
  };
  const scored = names.map((name) => ({ name, score: scoreOf(name) })).filter(({ score }) => score > 0);
  return scored.sort((one, other) => other.score - one.score).map(({ name }) => name);
}

/** The home of the program as it is once the servers have been listed. It is copied, so that no run sees another. */
const LISTED_HOME = "listed-home";

/** Lets Keyhole list the servers, as it has done when a person has approved them. */
async function listServers(world: World): Promise<void> {
  const client = await serve("lanes", world, join(world.folder, LISTED_HOME));
  for (let text = "still starting"; text.includes("still starting"); )
    text = textOf(await client.callTool({ name: "ask", arguments: { query: "list files" } }));
  await client.close();
}

async function openKeyhole(surface: "lanes" | "code", world: World): Promise<Arm> {
  const home = join(world.folder, "home");
  rmSync(home, { recursive: true, force: true });
  cpSync(join(world.folder, LISTED_HOME), home, { recursive: true });
  const client = await serve(surface, world, home);
  return {
    tools: await toolsOf(client, (name) => name),
    instructions: [TASK, client.getInstructions() ?? ""].join("\n\n"),
    close: () => client.close(),
  };
}

function serve(surface: "lanes" | "code", { folder, servers }: World, home: string): Promise<Client> {
  const config = join(folder, "servers.json");
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const options = ["--config", config, "--trust", "--allow-write", "--no-daemon", "--surface", surface];
  return connect({ command: process.execPath, args: [PROGRAM, "serve", ...options], env: { HOME: home } });
}

/** Connects to a server. Its questions are answered with yes, as calls that nothing guards need no answer. */
async function connect(server: EvalServer): Promise<Client> {
  const client = new Client(
    { name: "keyhole-eval", version: "1" },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", async () => ({
    action: "accept",
    content: { approve: true },
  }));
  const transport =
    "url" in server
      ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } })
      : new StdioClientTransport({
          command: server.command,
          args: [...server.args],
          env: { PATH: process.env.PATH ?? "", ...server.env },
          stderr: "ignore",
        });
  await client.connect(transport);
  return client;
}

async function toolsOf(client: Client, toName: (name: string) => string): Promise<ToolSet> {
  const { tools } = await client.listTools();
  const pairs = tools.map(({ name, description, inputSchema }) => [
    toName(name),
    tool({
      ...(description !== undefined && { description }),
      inputSchema: jsonSchema(inputSchema as JSONSchema7),
      execute: async (args) =>
        textOf(await client.callTool({ name, arguments: args as Record<string, unknown> })),
    }),
  ]);
  return Object.fromEntries(pairs) as ToolSet;
}

function textOf({ content, isError }: Awaited<ReturnType<Client["callTool"]>>): string {
  const text = content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
  return isError ? `Error: ${text}` : text;
}
