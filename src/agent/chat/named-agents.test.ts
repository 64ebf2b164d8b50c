import { expect, test } from "vitest";
import { plant } from "../../../test/chat-kit.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { coversTool, modelFor, readNamedAgents } from "./named-agents.ts";

test("sub-agents are read from both folders, the nearest place first, with tools by either kind of name", async () => {
  const project = temporaryFolder();
  const home = temporaryFolder();
  plant(project, {
    ".agents/agents/review.md":
      "---\nname: reviewer\ndescription: Reviews.\ntools: Read, Bash, mcp__shop__find, mcp__docs, shop.order.*\nmodel: opus\n---\nYou review.",
    ".claude/agents/plain.md": "You are plain.",
  });
  plant(home, {
    ".claude/agents/other.md": "---\nname: reviewer\n---\nNever read.",
    ".agents/agents/none.md": "---\ndescription: Thinks.\ntools: []\nmodel: inherit\n---\nThink.",
  });
  const agents = await readNamedAgents([project, home]);
  expect(agents).toEqual([
    {
      name: "reviewer",
      description: "Reviews.",
      instructions: "You review.",
      tools: ["workspace.read", "workspace.shell", "desk.background", "shop.find", "docs.*", "shop.order.*"],
      model: "opus",
    },
    { name: "plain", description: "You are plain.", instructions: "You are plain." },
    { name: "none", description: "Thinks.", instructions: "Think.", tools: [] },
  ]);
  const { tools } = agents[0]!;
  const covered = ["docs.read", "shop.order.make", "workspace.write", "shop.findall"];
  expect(covered.map((op) => coversTool(tools!, op))).toEqual([true, true, false, false]);
});

test("short names of models are the newest ones of Anthropic, and nothing elsewhere", () => {
  expect(modelFor("opus", "anthropic")).toBe("claude-opus-5-5");
  expect(modelFor("opus", "openai")).toBeUndefined();
  expect(modelFor("openai/gpt-6-luna", "anthropic")).toBe("openai/gpt-6-luna");
});
