import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { GatewayPeer, GatewaySetup, Start } from "./gateway-peer.ts";

const KEYHOLE = resolve("dist/program/main.js");

/** Keyhole and its peers, each as its page says to set it up. */
export const PEERS: readonly GatewayPeer[] = [
  { ...keyhole(), name: "keyhole", stop: (setup) => node(setup, KEYHOLE, "serve", "--stop") },
  { ...keyhole("--no-daemon"), name: "keyhole-no-daemon" },
  {
    name: "mcp-hub-mcp",
    packages: { "mcp-hub-mcp": "1.3.1" },
    start: async (setup) => {
      const config = await writeConfig(setup, "hub.json", { mcpServers: setup.servers });
      return program(setup, "mcp-hub-mcp", "--config-path", config);
    },
    // It searches by a pattern, so a model would send the words that carry the meaning.
    search: (query) => ({ name: "find-tools", args: { pattern: contentWords(query).join("|") } }),
    call: (serverName, toolName, toolArgs) => ({
      name: "call-tool",
      args: { serverName, toolName, toolArgs },
    }),
  },
  {
    name: "slop-mcp",
    packages: { "@standardbeagle/slop-mcp": "0.15.0" },
    start: async (setup) => {
      const blocks = Object.entries(setup.servers).map(([name, { command, args, env }]) => {
        const variables = Object.entries(env).map(([key, value]) => `    ${key} ${JSON.stringify(value)}`);
        const given = args.map((text) => JSON.stringify(text)).join(" ");
        const lines = [
          `  command ${JSON.stringify(command)}`,
          `  args ${given}`,
          "  env {",
          ...variables,
          "  }",
        ];
        return [`mcp ${JSON.stringify(name)} {`, ...lines, "}", ""].join("\n");
      });
      await writeFile(join(setup.folder, ".slop-mcp.kdl"), blocks.join("\n"));
      return program(setup, "slop-mcp", "serve");
    },
    search: (query) => ({ name: "search_tools", args: { query } }),
    call: (mcp_name, tool_name, parameters) => ({
      name: "execute_tool",
      args: { mcp_name, tool_name, parameters },
    }),
  },
  {
    name: "mcporter",
    packages: { mcporter: "0.12.3" },
    start: async (setup) => {
      const servers = Object.entries(setup.servers).map(([name, server]) => [
        name,
        { ...server, lifecycle: "keep-alive" },
      ]);
      const config = await writeConfig(setup, "mcporter.json", {
        mcpServers: Object.fromEntries(servers),
        imports: [],
      });
      return program(setup, "mcporter", "--config", config, "serve", "--stdio");
    },
    stop: (setup) =>
      program(setup, "mcporter", "--config", join(setup.folder, "mcporter.json"), "daemon", "stop"),
    call: (server, tool, args) => ({ name: `${server}__${tool}`, args }),
  },
  {
    name: "ai-sdk-tool-search",
    start: async (setup) => {
      const config = await writeConfig(setup, "ai-sdk.json", setup.servers);
      return node(setup, resolve(import.meta.dirname, "ai-sdk-server.ts"), config);
    },
    search: (query) => ({ name: "search", args: { query } }),
    call: (server, tool, args) => ({ name: `${server}_${tool}`, args }),
  },
  {
    name: "mastra-tool-search",
    packages: { "@mastra/core": "1.71.0", "@mastra/mcp": "2.0.0" },
    start: async (setup) => {
      const config = await writeConfig(setup, "mastra.json", setup.servers);
      return node(setup, resolve(import.meta.dirname, "mastra-server.ts"), config, setup.installed);
    },
    search: (query) => ({ name: "search", args: { query } }),
    call: (server, tool, args) => ({ name: `${server}_${tool}`, args }),
  },
  {
    name: "fastmcp-search",
    python: { fastmcp: "4.1.2" },
    start: async (setup) => {
      const config = await writeConfig(setup, "fastmcp.json", { mcpServers: setup.servers });
      return inEnvironment(setup, "python", resolve(import.meta.dirname, "fastmcp-server.py"), config);
    },
    search: (query) => ({ name: "search_tools", args: { query } }),
    call: (server, tool, args) => ({
      name: "call_tool",
      args: { name: `${server}_${tool}`, arguments: args },
    }),
  },
  {
    // The descriptions of its tools name every tool, so that a model can call one at once.
    name: "mcp-compressor",
    python: { "mcp-compressor": "0.38.2" },
    start: async (setup) => {
      const config = await writeConfig(setup, "compressor.json", { mcpServers: setup.servers });
      return inEnvironment(setup, "mcp-compressor", "--config", config);
    },
    call: (server, tool_name, tool_input) => ({
      name: `${server}_invoke_tool`,
      args: { tool_name, tool_input },
    }),
  },
];

/** Systems that people compare Keyhole with and that are not measured, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  "mcpproxy-go": "the registry of Go modules did not offer github.com/smart-mcp-proxy/mcpproxy-go",
  "pi-mcp-adapter": "it is an extension of the agent Pi and no server of its own",
  executor:
    "it reads no config, and its command line adds a local server but cannot connect it: its web page does",
};

function keyhole(...options: string[]): Omit<GatewayPeer, "name"> {
  return {
    start: async (setup) => {
      const config = await writeConfig(setup, "servers.json", { mcpServers: setup.servers });
      return node(setup, KEYHOLE, "serve", "--config", config, "--trust", "--allow-write", ...options);
    },
    search: (query) => ({ name: "ask", args: { query } }),
    call: (server, tool, args) => ({ name: "exec", args: { route: `${server}://tools/${tool}`, args } }),
  };
}

const STOP_WORDS = new Set(
  "a all an and at by did do does for from how i in is it me may my of off on one say several so the this to up was what when which who whose with you".split(
    " ",
  ),
);

function contentWords(query: string): string[] {
  const words = query.toLowerCase().match(/[a-z]{2,}/g) ?? [];
  const carrying = words.filter((word) => !STOP_WORDS.has(word));
  return carrying.length > 0 ? carrying : words;
}

function node({ folder }: GatewaySetup, ...args: string[]): Start {
  return { command: process.execPath, args, cwd: folder, env: homeIn(folder) };
}

function program({ folder, installed }: GatewaySetup, bin: string, ...args: string[]): Start {
  return { command: join(installed, "node_modules/.bin", bin), args, cwd: folder, env: homeIn(folder) };
}

function inEnvironment({ folder, installed }: GatewaySetup, bin: string, ...args: string[]): Start {
  return { command: join(installed, "bin", bin), args, cwd: folder, env: homeIn(folder) };
}

/** State and caches of one run are its own, so that a cold start is cold. */
function homeIn(folder: string): Record<string, string> {
  const of = (name: string) => join(folder, "home", name);
  return {
    HOME: join(folder, "home"),
    XDG_CACHE_HOME: of("cache"),
    XDG_CONFIG_HOME: of("config"),
    XDG_STATE_HOME: of("state"),
    XDG_DATA_HOME: of("data"),
    XDG_RUNTIME_DIR: of("run"),
  };
}

async function writeConfig({ folder }: GatewaySetup, name: string, config: object): Promise<string> {
  await mkdir(join(folder, "home", "run"), { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  await writeFile(path, JSON.stringify(config));
  return path;
}
