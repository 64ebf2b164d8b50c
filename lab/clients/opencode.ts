import type { LabClient } from "../lab-client.ts";

export const opencode: LabClient = {
  name: "opencode",
  title: "opencode",
  packages: { "opencode-ai": "1.18.33" },
  bin: "opencode",
  group: "named",
  launch: ({ model, prompt }) => ({
    args: ["run", "--auto", "-m", "lab/scripted", prompt],
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    files: {
      ".config/opencode/opencode.json": JSON.stringify({
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
      }),
    },
  }),
  advice: [
    "Calls may be silent for a minute. Keyhole reports progress every 15 seconds, so longer calls go on.",
  ],
};
