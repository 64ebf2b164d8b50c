import type { LabClient } from "../lab-client.ts";
import { DENIED } from "../tour/outcomes.ts";

export const gemini: LabClient = {
  name: "gemini",
  title: "Gemini CLI",
  packages: { "@google/gemini-cli": "0.61.0" },
  bin: "gemini",
  group: "gate",
  launch: ({ model, prompt }) => ({
    args: ["-p", prompt, "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"],
    env: { GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: "lab", GEMINI_TELEMETRY_ENABLED: "false" },
    files: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    },
  }),
  entry: (server, name) => ({
    ...server,
    trust: true,
    ...(name === "filesystem" && { excludeTools: [DENIED] }),
  }),
  denies: true,
  advice: [
    "Headless, its MCP tools are there only with `--yolo` or a policy that allows them.",
    "It has no way to ask a person for Keyhole, so calls that need one are refused with the reason.",
  ],
};
