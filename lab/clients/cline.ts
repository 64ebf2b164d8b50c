import type { LabClient } from "../lab-client.ts";

export const cline: LabClient = {
  name: "cline",
  title: "Cline CLI",
  packages: { cline: "3.0.65" },
  bin: "cline",
  group: "others",
  launch: ({ model, prompt }) => ({
    args: ["--auto-approve", "true", prompt],
    env: { CLINE_TELEMETRY_DISABLED: "1" },
    files: {
      ".cline/data/settings/providers.json": JSON.stringify({
        version: 1,
        lastUsedProvider: "openai-compatible",
        modes: {},
        providers: {
          "openai-compatible": {
            settings: {
              provider: "openai-compatible",
              apiKey: "lab",
              model: "scripted",
              baseUrl: `${model}/v1`,
            },
            updatedAt: "2026-01-01T00:00:00.000Z",
            tokenSource: "manual",
          },
        },
      }),
    },
  }),
  // The first is that of the editor's extension.
  place: 1,
  // Without a time limit of their own it gives servers less than three seconds to start, as it does Keyhole.
  entry: (server) => ({ ...server, timeout: 300 }),
  advice: [
    "`timeout` in the entry gives Keyhole time to start; without it Cline waits less than three seconds.",
    "It cuts results at 8,000 characters. Keyhole keeps its answers below that, and leaves pictures out because they would be read as text.",
  ],
};
