import { describe, expect, test } from "vitest";
import { ASSERTIONS } from "../lab/assertions.ts";
import { LAB_CLIENTS } from "../lab/clients.ts";
import { diffFacts, readFacts } from "../lab/facts.ts";
import { findTool, offeredTools } from "../lab/offered-tools.ts";
import { pictureIn, toolResults } from "../lab/tool-results.ts";
import { verifies } from "./claims.ts";

/** The same conversation as each vendor's API has it: two tools, and one result with a text and a picture. */
const BODIES = {
  anthropic: {
    tools: [{ name: "Bash" }, { name: "mcp__keyhole__ask", input_schema: {} }],
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            content: [
              { type: "text", text: "Found." },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "UElD" } },
            ],
          },
        ],
      },
    ],
  },
  chat: {
    tools: [{ type: "function", function: { name: "keyhole-ask" } }],
    messages: [
      { role: "tool", content: "Found." },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,UElD" } }] },
    ],
  },
  responses: {
    tools: [{ type: "namespace", name: "mcp__keyhole", tools: [{ type: "function", name: "ask" }] }],
    input: [
      {
        type: "function_call_output",
        output: [
          { type: "input_text", text: "Found." },
          { type: "input_image", image_url: "data:image/png;base64,UElD" },
        ],
      },
    ],
  },
  gemini: {
    tools: [{ functionDeclarations: [{ name: "mcp_keyhole_ask" }] }],
    contents: [
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              response: { output: "Found." },
              parts: [{ inlineData: { mimeType: "image/png", data: "UElD" } }],
            },
          },
        ],
      },
    ],
  },
};

describe.each(Object.entries(BODIES))("a request to %s", (_, body) => {
  test("shows Keyhole's tools and no other server's", () => {
    expect(findTool(offeredTools(body), "ask")?.name).toMatch(/ask$/);
    expect(findTool(offeredTools(body), "exec")).toBeUndefined();
  });

  test("shows results and pictures", () => {
    expect(toolResults(body).map(({ text }) => text)).toEqual(["Found."]);
    expect(pictureIn(body, "UElD")).toBe("picture");
    expect(pictureIn({ ...body, more: { text: "bytes: UElD" } }, "UElD")).toBe("text");
    expect(pictureIn({ messages: [] }, "UElD")).toBe("absent");
  });
});

test("the difference of two versions is what is another fact, not another figure", () => {
  const row = { client: "a", version: "1", assertion: "text", ok: true, fact: "exactly", value: 68 };
  expect(diffFacts([row], [{ ...row, version: "2", value: 70 }])).toEqual([]);
  expect(diffFacts([row], [{ ...row, version: "2", fact: "cut" }])).toEqual(["a 2, text: cut (1: exactly)"]);
  expect(diffFacts([], [row])).toEqual(["a 1, text: new: exactly"]);
});

describe.each(LAB_CLIENTS.map((client) => [client.title, client] as const))("%s", (_, client) => {
  verifies("clients:lab", "has every fact recorded, and none is wrong", async () => {
    const facts = await readFacts(client.name);
    const asserted = ASSERTIONS.filter(({ scenario }) => scenario !== "person" || client.person);
    expect(facts.map(({ assertion }) => assertion)).toEqual(asserted.map(({ name }) => name));
    expect(facts.filter(({ ok }) => !ok)).toEqual([]);
    expect(new Set(facts.map(({ version }) => version))).toEqual(
      new Set([Object.values(client.packages)[0]]),
    );
  });
});
