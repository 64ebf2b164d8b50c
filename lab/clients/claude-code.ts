import type { LabClient } from "../lab-client.ts";

export const claudeCode: LabClient = {
  name: "claude-code",
  title: "Claude Code",
  packages: { "@anthropic-ai/claude-code": "2.1.325" },
  bin: "claude",
  group: "gate",
  launch: ({ model, prompt }) => ({
    args: ["-p", prompt, "--allowedTools", "mcp__keyhole"],
    env: {
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: "sk-ant-lab",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // A machine with other work starts servers slowly.
      MCP_TIMEOUT: "120000",
    },
  }),
  advice: [
    "The entry keeps Keyhole's tools loaded. Without `alwaysLoad` they wait behind the client's own search.",
    "It asks about every tool. Allow the reading ones once: `mcp__keyhole__ask`, `mcp__keyhole__help` and `mcp__keyhole__get`.",
    "Headless (`claude -p`), give them with `--allowedTools`.",
  ],
};
