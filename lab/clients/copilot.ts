import type { LabClient } from "../lab-client.ts";

const OPTIONS = ["--allow-all-tools", "--disable-builtin-mcps"];

export const copilot: LabClient = {
  name: "copilot",
  title: "Copilot CLI",
  packages: { "@github/copilot": "1.0.102" },
  bin: "copilot",
  group: "named",
  launch: ({ model, prompt }) => ({
    args: ["-p", prompt, ...OPTIONS, "--trust-folder"],
    env: variables(model),
  }),
  person: {
    launch: ({ model }) => ({ args: OPTIONS, env: variables(model) }),
    screens: [{ sees: "Do you trust the files in this folder?", press: ["Enter"] }],
    ready: "/ commands",
    accept: ["Enter"],
    decline: ["C-d"],
  },
  entry: (server) => ({ type: "local", ...server, tools: ["*"] }),
  advice: [
    "`deferTools` keeps the tools loaded when there are many of other servers; the instructions are not shown then.",
    "Headless, use `--allow-all-tools`.",
  ],
};

function variables(model: string): Record<string, string> {
  return {
    COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
    COPILOT_PROVIDER_API_KEY: "lab",
    COPILOT_MODEL: "gpt-4.1",
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
  };
}
