import type { LabClient, Setup } from "../lab-client.ts";
import { DENIED } from "../tour/outcomes.ts";

export const codex: LabClient = {
  name: "codex",
  title: "Codex",
  packages: { "@openai/codex": "0.166.0" },
  bin: "codex",
  group: "named",
  launch: (setup) => ({
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", setup.prompt],
    ...settings(setup),
  }),
  person: {
    launch: (setup) => ({
      args: ["--no-daemon", "-a", "on-request", "-s", "workspace-write"],
      ...settings(setup, `[projects."${setup.project}"]`, 'trust_level = "trusted"'),
    }),
    screens: [
      { sees: "Use existing model", press: ["2"] },
      { sees: "Allow for this session", press: ["2"] },
    ],
    // It starts its servers with the first prompt.
    ready: "Ask Codex to do anything",
    accept: ["Enter"],
    decline: ["2"],
  },
  // `required` makes it wait for slow servers, as a person at a terminal does.
  entry: (server, name) => ({
    ...server,
    default_tools_approval_mode: "approve",
    required: true,
    ...(name === "filesystem" && { disabled_tools: [DENIED] }),
  }),
  remote: (url) => ({ url, default_tools_approval_mode: "approve", required: true }),
  denies: true,
  search: {
    call: (needs) => ({
      name: "tool_search",
      args: { query: needs.map(({ need }) => need).join(", "), limit: Math.max(8, needs.length) },
      isSearch: true,
    }),
    words: (query) => ({ name: "tool_search", args: { query }, isSearch: true }),
    isBlind: true,
  },
  advice: [
    "`required` makes it wait for Keyhole, and `omit_tools_from` keeps the tools out of its own search.",
    "Headless, it refuses `exec` unless approvals are bypassed; reading is free.",
    "It gives servers only the variables that `env_vars` names.",
  ],
};

function settings({ model }: Setup, ...more: string[]) {
  const lines = [
    'model = "gpt-5.5"',
    'model_provider = "lab"',
    "check_for_update_on_startup = false",
    "[model_providers.lab]",
    'name = "lab"',
    `base_url = "${model}/v1"`,
    'env_key = "OPENAI_API_KEY"',
    'wire_api = "responses"',
    ...more,
    "",
  ];
  return { env: { OPENAI_API_KEY: "sk-lab" }, files: { ".codex/config.toml": lines.join("\n") } };
}
