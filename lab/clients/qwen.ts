import type { LabClient } from "../lab-client.ts";
import { DENIED, selectTools, toolName } from "../tour/outcomes.ts";

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
  entry: (server, name) => ({
    ...server,
    trust: true,
    ...(name === "filesystem" && { excludeTools: [DENIED] }),
  }),
  remote: (url) => ({ httpUrl: url, trust: true }),
  denies: true,
  subAgent: (prompt) => ({
    name: "tool_call",
    args: {
      name: "agent",
      arguments: { description: "Search", prompt, subagent_type: "general-purpose" },
    },
  }),
  search: {
    call: (needs) => ({ name: "tool_search", args: { query: selectTools(needs), max_results: 20 } }),
    words: (query) => ({ name: "tool_search", args: { query } }),
    name: toolName,
    through: (name, args) => ({ name: "tool_call", args: { name, arguments: args } }),
  },
  advice: [
    "`alwaysLoadTools` keeps the tools out of its own search.",
    "Headless, use `--yolo`. It repeats the text of errors by itself.",
  ],
};
