import type { LabClient } from "../lab-client.ts";

export const copilot: LabClient = {
  name: "copilot",
  title: "Copilot CLI",
  packages: { "@github/copilot": "1.0.102" },
  bin: "copilot",
  group: "named",
  launch: ({ model, prompt }) => ({
    args: ["-p", prompt, "--allow-all-tools", "--disable-builtin-mcps", "--trust-folder"],
    env: {
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: "lab",
      COPILOT_MODEL: "gpt-4.1",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
    },
  }),
  advice: [
    "`deferTools` keeps the tools loaded when there are many of other servers; the instructions are not shown then.",
    "Headless, use `--allow-all-tools`.",
  ],
};
