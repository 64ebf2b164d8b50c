import { stripVTControlCharacters } from "node:util";
import { renderToString } from "ink";
import { createElement as h } from "react";
import { describe, expect, test } from "vitest";
import { createScriptedAgent, told } from "../../../test/scripted-agent.ts";
import { Chat } from "./chat.ts";
import { ChatScreen } from "./chat-screen.ts";
import { NEW_CHAT } from "./chat-state.ts";
import { type ChatEvent, reduce } from "./reduce.ts";

const ANSWER = `# Result

The *fix* is in \`src/sum.ts\`: می‌خواهم 👩‍👩‍👧 <!-- kept -->

| file | lines | why |
|---|---:|---|
| src/sum.ts | 3 | starts at zero |
| test/sum.test.ts | 12 | covers the empty list |

\`\`\`ts
const sum = (list: number[]) => list.reduce((a, b) => a + b, 0); // zero
\`\`\`
`;
const DIFF =
  "--- a/src/sum.ts\n+++ b/src/sum.ts\n@@ -1,2 +1,2 @@\n-\treturn list.reduce(add);\n+\treturn list.reduce(add, 0); <!-- می‌خواهم -->\n";
const STATUS = {
  mode: "accept-edits",
  model: "anthropic claude-sonnet-5-5",
  tokens: 12_345,
  window: 1_000_000,
  cost: 0.0312,
} as const;
const START: readonly ChatEvent[] = [
  { type: "set", change: { status: STATUS } },
  { type: "turn-start", prompt: "Why does the sum of an empty list fail?" },
];

const SCREENS: Readonly<Record<string, readonly ChatEvent[]>> = {
  answer: [
    ...START,
    told({ type: "llm-thinking", step: 1, text: "An empty list has no first element.\nSo reduce throws." }),
    told({ type: "tool-start", callId: "c1", tool: "shell", args: { command: "npm test" } }),
    told({
      type: "tool-end",
      callId: "c1",
      tool: "shell",
      ok: false,
      ms: 1_234,
      error: "COMMAND_FAILED",
      text: "exit code 1\none\ntwo\nthree\nfour\nfive",
    }),
    told({ type: "tool-start", callId: "c2", tool: "edit", args: { path: "src/sum.ts" } }),
    told({ type: "tool-end", callId: "c2", tool: "edit", ok: true, ms: 5, text: "{}", diff: DIFF }),
    told({ type: "llm-text", step: 2, text: ANSWER }),
    { type: "turn-end" },
  ],
  question: [
    ...START,
    told({ type: "tool-start", callId: "c1", tool: "edit", args: { path: "src/sum.ts" } }),
    told({
      type: "permission-request",
      callId: "c1",
      scope: "fs-write",
      action: "write file: /project/src/sum.ts (given as src/sum.ts)",
      reason: "No rule allows fs-write there.",
      diff: DIFF,
      always: ["fs-write(src/sum.ts)"],
      keptIn: "/project/.keyhole/settings.json",
    }),
  ],
  picker: [
    {
      type: "set",
      change: {
        status: { ...STATUS, mode: "plan" },
        picker: {
          kind: "models",
          title: "Model:",
          choices: [
            { id: "a", name: "anthropic claude-sonnet-5-5", text: "in use" },
            { id: "b", name: "openai gpt-6.1-sol", text: "1050k tokens, $2 in, $10 out" },
          ],
        },
      },
    },
  ],
  context: [
    ...START.slice(0, 1),
    told({ type: "context-compacted", by: "model", replaced: 34, before: 101_200, after: 21_400 }),
    {
      type: "show",
      block: {
        kind: "context",
        report: {
          parts: [
            { name: "tools", tokens: 717 },
            { name: "instructions", tokens: 340 },
            { name: "summary", tokens: 1_200 },
            { name: "results", tokens: 9_000 },
          ],
          total: 11_257,
          window: 1_000_000,
          assumed: false,
          everything: 41_000,
        },
      },
    },
  ],
};

describe.each([40, 80, 120])("screens of %i columns", (columns) => {
  test.each(Object.keys(SCREENS))("%s", (name) => {
    const state = SCREENS[name]!.reduce(reduce, NEW_CHAT);
    const shown = new Chat(createScriptedAgent([]), { isFile: async () => false });
    const chat = Object.assign(shown, { state: () => state });
    const screen = h(ChatScreen, {
      chat,
      banner: "Keyhole, scripted. /help lists commands and keys.",
      files: [],
      size: { columns, rows: 40 },
      onLeave: () => {},
    });
    const text = stripVTControlCharacters(renderToString(screen, { columns }));
    expect(text.replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋")).toMatchSnapshot();
  });
});
