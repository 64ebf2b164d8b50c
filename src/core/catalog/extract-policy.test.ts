import { describe, expect, test } from "vitest";
import { extractPolicy } from "./ingest-entry.ts";

describe("extractPolicy", () => {
  test.each<[string, ReturnType<typeof extractPolicy>]>([
    ["Lists orders.", undefined],
    ["Thinks. Don't hesitate to add thoughts. Do not worry about order.", undefined],
    ["Use this tool to list orders. Returns an array.", undefined],
    ["Sends mail. Use when the user asks for it.", { do: ["When the user asks for it"] }],
    ["Use this tool only when a page exists.", { do: ["Only when a page exists"] }],
    ["Only use this when asked.", { do: ["Only use this when asked"] }],
    ["Searches. Prefer search over list for names.", { do: ["Prefer search over list for names"] }],
    ["DO NOT call it twice.", { dont: ["Call it twice"] }],
    ["Don't guess ids. Never send secrets!", { dont: ["Guess ids", "Send secrets!"] }],
    [
      "Deletes. This tool must not be used in production.",
      { dont: ["This tool must not be used in production"] },
    ],
    ["Not for images.", { dont: ["For images"] }],
    ["Edge case: empty lists return 404.", { edgeCases: ["Empty lists return 404"] }],
    ["If unsure, ask.", { edgeCases: ["If unsure, ask"] }],
    [
      "**When to use:**\n- a page exists\n\n1. b\n\nOther text.\n- not advice",
      { do: ["A page exists", "B"] },
    ],
    ["When not to use:\n* for images\n## Edge cases:\n• none", { dont: ["For images"], edgeCases: ["None"] }],
    [
      "Creates a task.\n\nCREATE a task when:\n- The user asks to track work\n- A plan names a step\n\nDO NOT create a task when:\n- It is a passing thought\n- One with that title exists",
      {
        do: ["The user asks to track work", "A plan names a step"],
        dont: ["It is a passing thought", "One with that title exists"],
      },
    ],
    [
      "✅ Search before you create\n- ✔️ Give a title\n❌ Don't guess ids\n* 🚫 Delete in bulk",
      { do: ["Search before you create", "Give a title"], dont: ["Guess ids", "Delete in bulk"] },
    ],
    [
      "USE FOR:\n- renaming\n- moving\n\nNEVER USE FOR:\n- deleting",
      { do: ["Renaming", "Moving"], dont: ["Deleting"] },
    ],
    ["IMPORTANT: ALWAYS search first. Always returns a list.", { do: ["ALWAYS search first"] }],
    ["CRITICAL: Never send it twice.", { dont: ["Send it twice"] }],
    [
      'Do not use it for short ids, e.g. "A1" or i.e. The ones of tests. Returns rows.',
      { dont: ['Use it for short ids, e.g. "A1" or i.e. The ones of tests'] },
    ],
    [`Do not ${"repeat yourself and ".repeat(20)}stop. Never guess.`, { dont: ["Guess"] }],
    ["Returns when:\n- the job ended", undefined],
  ])("%j", (description, policy) => {
    expect(extractPolicy(description)).toEqual(policy);
  });

  test("is bounded, whatever the description", () => {
    const long = [
      "DO NOT:",
      `- ${"x".repeat(500)}`,
      ..."abcdefgh".split("").map((letter) => `- ${letter}`),
    ].join("\n");
    const { dont = [] } = extractPolicy(long) ?? {};
    expect(dont.length).toBeLessThanOrEqual(5);
    for (const line of dont) expect(line.length).toBeLessThanOrEqual(160);
    expect(extractPolicy(`Prefer ${"a b ".repeat(2_000_000)}`)).toBeUndefined();
  });
});
