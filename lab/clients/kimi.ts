import { join } from "node:path";
import type { LabClient } from "../lab-client.ts";

export const kimi: LabClient = {
  name: "kimi",
  title: "Kimi Code",
  packages: { "@moonshot-ai/kimi-code": "2.1.0" },
  bin: "kimi",
  group: "others",
  launch: ({ model, prompt }) => ({
    args: ["-p", prompt],
    env: { KIMI_CODE_NO_AUTO_UPDATE: "1" },
    files: {
      ".kimi-code/config.toml": [
        'default_model = "scripted"',
        'default_permission_mode = "yolo"',
        "telemetry = false",
        "[providers.lab]",
        'type = "openai"',
        `base_url = "${model}/v1"`,
        'api_key = "lab"',
        "[models.scripted]",
        'provider = "lab"',
        'model = "scripted"',
        "max_context_size = 200000",
        'capabilities = ["tool_use", "image_in"]',
        "",
      ].join("\n"),
    },
  }),
  entryFile: (servers, { home }) => ({
    path: join(home, ".kimi-code/mcp.json"),
    text: JSON.stringify({ mcpServers: servers }),
  }),
  advice: [
    "Put the entry into `mcpServers` of `~/.kimi-code/mcp.json`.",
    "It asks for no progress and gives up on a call after a minute: run longer work with a tool that returns at once.",
  ],
};
