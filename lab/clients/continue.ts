import { join } from "node:path";
import type { LabClient } from "../lab-client.ts";

export const continueCli: LabClient = {
  name: "continue",
  title: "Continue",
  packages: { "@continuedev/cli": "1.5.47" },
  bin: "cn",
  group: "others",
  launch: ({ home, model, prompt }) => ({
    args: ["-p", prompt, "--auto", "--config", join(home, ".continue/config.yaml")],
    env: { CONTINUE_TELEMETRY_ENABLED: "0" },
    files: {
      ".continue/config.yaml": [
        "name: lab",
        "version: 1.0.0",
        "schema: v1",
        "models:",
        "  - name: scripted",
        "    provider: openai",
        "    model: gpt-4.1",
        `    apiBase: ${model}/v1`,
        "    apiKey: lab",
        "    roles: [chat]",
        "    capabilities: [tool_use]",
        "",
      ].join("\n"),
    },
  }),
  hasBareNames: true,
  advice: [
    "Tools have their bare names (`ask`, `get`), which another server may also use.",
    "It asks for no progress and gives up on a call after a minute. It shows results as JSON, so Keyhole leaves pictures out.",
  ],
};
