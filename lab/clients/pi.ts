import { join } from "node:path";
import type { LabClient } from "../lab-client.ts";

export const pi: LabClient = {
  name: "pi",
  title: "pi with pi-mcp-adapter",
  packages: { "@earendil-works/pi-coding-agent": "0.87.1", "pi-mcp-adapter": "2.36.0" },
  bin: "pi",
  group: "others",
  launch: ({ installed, model, prompt }) => ({
    args: [
      "-p",
      "--no-session",
      "-e",
      join(installed, "node_modules/pi-mcp-adapter"),
      "--model",
      "lab/scripted",
      prompt,
    ],
    env: { PI_OFFLINE: "1" },
    files: {
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          lab: {
            baseUrl: `${model}/v1`,
            api: "openai-completions",
            apiKey: "lab",
            models: [{ id: "scripted" }],
          },
        },
      }),
    },
  }),
  entryFile: (servers, { home }) => ({
    path: join(home, ".pi/agent/mcp.json"),
    text: JSON.stringify({
      mcpServers: Object.fromEntries(
        Object.entries(servers).map(([name, server]) => [
          name,
          { ...server, lifecycle: "eager", directTools: true },
        ]),
      ),
    }),
  }),
  advice: [
    'Put the entry into `mcpServers` of `~/.pi/agent/mcp.json`, with `"directTools": true`, so that the four tools stand beside those of pi.',
  ],
};
