import type { LabClient } from "../lab-client.ts";

export const codex: LabClient = {
  name: "codex",
  title: "Codex",
  packages: { "@openai/codex": "0.166.0" },
  bin: "codex",
  group: "named",
  launch: ({ model, prompt }) => ({
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
    env: { OPENAI_API_KEY: "sk-lab" },
    files: {
      ".codex/config.toml": [
        'model = "gpt-5.5"',
        'model_provider = "lab"',
        "check_for_update_on_startup = false",
        "[model_providers.lab]",
        'name = "lab"',
        `base_url = "${model}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        "",
      ].join("\n"),
    },
  }),
  advice: [
    "`required` makes it wait for Keyhole, and `omit_tools_from` keeps the tools out of its own search.",
    "Headless, it refuses `exec` unless approvals are bypassed; reading is free.",
    "It gives servers only the variables that `env_vars` names.",
  ],
};
