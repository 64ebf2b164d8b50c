import type { LabClient } from "../lab-client.ts";

export const qwen: LabClient = {
  name: "qwen",
  title: "Qwen Code",
  packages: { "@qwen-code/qwen-code": "0.24.4" },
  bin: "qwen",
  group: "named",
  launch: ({ model, prompt }) => ({
    args: ["-p", prompt, "--yolo", "--auth-type", "openai", "-m", "qwen3-coder-plus"],
    env: { OPENAI_API_KEY: "lab", OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: "qwen3-coder-plus" },
    files: {
      ".qwen/settings.json": JSON.stringify({
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    },
  }),
  advice: [
    "`alwaysLoadTools` keeps the tools out of its own search.",
    "Headless, use `--yolo`. It repeats the text of errors by itself.",
  ],
};
