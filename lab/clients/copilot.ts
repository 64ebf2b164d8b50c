import type { LabClient } from "../lab-client.ts";

/** Its search takes a regular expression of no more letters. */
const MOST_LETTERS = 200;

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
  // It hides tools from models of Anthropic alone, and puts their names into the prompt.
  search: {
    variables: ({ model }) => ({
      COPILOT_PROVIDER_TYPE: "anthropic",
      COPILOT_PROVIDER_BASE_URL: model,
      COPILOT_MODEL: "claude-sonnet-4.5",
    }),
    call: (needs) =>
      search(
        needs.map(({ call }) => call?.tool ?? "nothing"),
        20,
      ),
    words: (query) => search(query.toLowerCase().match(/[\p{L}\d]{4,}/gu) ?? []),
  },
  subAgent: (prompt) => ({
    name: "task",
    args: { name: "reader", description: "Search", prompt, agent_type: "general-purpose", mode: "sync" },
  }),
  remote: (url) => ({ type: "http", url, tools: ["*"] }),
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

function search(words: readonly string[], limit?: number) {
  const pattern = [...new Set(words)].reduce((text, word) => {
    const longer = text === "" ? word : `${text}|${word}`;
    return longer.length > MOST_LETTERS ? text : longer;
  }, "");
  return { name: "tool_search_tool", args: { pattern, ...(limit !== undefined && { limit }) } };
}
