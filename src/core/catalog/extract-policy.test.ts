import { describe, expect, test } from "vitest";
import { extractPolicy } from "./ingest-entry.ts";

describe("extractPolicy", () => {
  test.each<[string, ReturnType<typeof extractPolicy>]>([
    ["Lists orders.", undefined],
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
