import { join } from "node:path";
import type { LabClient } from "../lab-client.ts";

export const kilo: LabClient = {
  name: "kilo",
  title: "Kilo",
  packages: { "@kilocode/cli": "7.7.7" },
  bin: "kilo",
  group: "others",
  launch: ({ prompt }) => ({ args: ["run", "--auto", "-m", "lab/scripted", prompt] }),
  entryFile: ({ command, args }, { home, model }) => ({
    path: join(home, ".config/kilo/kilo.json"),
    text: JSON.stringify({
      autoupdate: false,
      share: "disabled",
      provider: {
        lab: {
          npm: "@ai-sdk/openai-compatible",
          name: "lab",
          options: { baseURL: `${model}/v1`, apiKey: "lab" },
          models: { scripted: { name: "scripted", limit: { context: 200_000, output: 8_000 } } },
        },
      },
      mcp: { keyhole: { type: "local", command: [command, ...args], enabled: true } },
    }),
  }),
  advice: ["Put the entry of opencode into `mcp` of `~/.config/kilo/kilo.json`."],
};
