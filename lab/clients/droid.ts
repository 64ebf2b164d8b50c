import { join } from "node:path";
import type { LabClient } from "../lab-client.ts";
import { OWN_TOOLS } from "../offered-tools.ts";
import { selectTools } from "../tour/outcomes.ts";

const toolName = (server: string, tool: string) => `${server}___${tool}`;

export const droid: LabClient = {
  name: "droid",
  title: "Droid",
  packages: { droid: "0.215.0" },
  bin: "droid",
  group: "others",
  launch: ({ model, prompt }) => ({
    args: ["exec", "--skip-permissions-unsafe", "-m", "custom:scripted-0", prompt],
    env: { FACTORY_API_KEY: "fk-lab", FACTORY_DROID_AUTO_UPDATE_ENABLED: "false" },
    files: {
      ".factory/settings.json": JSON.stringify({
        customModels: [
          {
            model: "scripted",
            displayName: "scripted",
            baseUrl: `${model}/v1`,
            apiKey: "lab",
            provider: "generic-chat-completion-api",
            maxOutputTokens: 8_000,
          },
        ],
      }),
    },
  }),
  entryFile: (servers, { home }) => ({
    path: join(home, ".factory/mcp.json"),
    text: JSON.stringify({
      mcpServers: Object.fromEntries(
        Object.entries(servers).map(([name, server]) => [
          name,
          { type: "stdio", ...server, disabled: false },
        ]),
      ),
    }),
  }),
  // Its first request leaves before a server has started, so the model waits as a person would.
  reveal: [
    { name: "Execute", args: { command: "sleep 15", summary: "Wait for the servers" } },
    {
      name: "ToolSearch",
      args: { query: `select:${OWN_TOOLS.map((tool) => toolName("keyhole", tool)).join(",")}` },
    },
  ],
  search: {
    call: (needs) => ({ name: "ToolSearch", args: { query: selectTools(needs, toolName) } }),
    name: toolName,
  },
  advice: [
    "Put the entry into `mcpServers` of `~/.factory/mcp.json`.",
    "Its first request leaves before a server has started, and it does not announce a late one: let the first turn do something else, then search for `keyhole`.",
  ],
};
