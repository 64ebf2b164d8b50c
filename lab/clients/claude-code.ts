import type { LabClient } from "../lab-client.ts";
import { DENIED, selectTools, toolName } from "../tour/outcomes.ts";

const KEY = "sk-ant-lab";

export const claudeCode: LabClient = {
  name: "claude-code",
  title: "Claude Code",
  packages: { "@anthropic-ai/claude-code": "2.1.325" },
  bin: "claude",
  group: "gate",
  launch: ({ model, prompt }) => ({
    args: ["-p", prompt, "--allowedTools", "mcp__keyhole"],
    env: variables(model),
  }),
  person: {
    launch: ({ model, project }) => ({
      args: ["--allowedTools", "mcp__keyhole"],
      env: variables(model),
      // A home in which the first questions of the client are answered.
      files: {
        ".claude.json": JSON.stringify({
          hasCompletedOnboarding: true,
          theme: "dark",
          customApiKeyResponses: { approved: [KEY], rejected: [] },
          projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
        }),
      },
    }),
    accept: ["Enter"],
    decline: ["Down", "Enter"],
  },
  entry: (server) => ({ type: "stdio", ...server }),
  remote: (url) => ({ type: "http", url }),
  allowing: (servers) => ({
    ".claude/settings.json": JSON.stringify({
      permissions: {
        allow: servers.map((name) => `mcp__${name}`),
        deny: [toolName("filesystem", DENIED)],
      },
    }),
  }),
  denies: true,
  search: {
    call: (needs) => ({
      name: "ToolSearch",
      args: { query: selectTools(needs), max_results: needs.length },
    }),
    words: (query) => ({ name: "ToolSearch", args: { query } }),
    name: toolName,
  },
  subAgent: (prompt) => ({
    name: "Agent",
    args: { description: "Search", prompt, subagent_type: "general-purpose" },
  }),
  advice: [
    "The entry keeps Keyhole's tools loaded. Without `alwaysLoad` they wait behind the client's own search.",
    "It asks about every tool. Allow the reading ones once: `mcp__keyhole__ask`, `mcp__keyhole__help` and `mcp__keyhole__get`.",
    "Headless (`claude -p`), give them with `--allowedTools`.",
  ],
};

function variables(model: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // A machine with other work starts servers slowly.
    MCP_TIMEOUT: "120000",
    MCP_CONNECTION_NONBLOCKING: "0",
    CLAUDE_CODE_MCP_STARTUP_WAIT_MS: "60000",
  };
}
