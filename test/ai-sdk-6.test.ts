// The AI SDK adapter on version 6, which names some settings differently.
import type { ModelMessage } from "ai";
import type { MockLanguageModelV3 } from "ai/test";
import { createGateway } from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { expect, onTestFinished, test } from "vitest";
import { createCms } from "../examples/cms/cms.ts";
import { ai6 } from "./ai-6.ts";

type CallOptions = Parameters<MockLanguageModelV3["doGenerate"]>[0];
type Result = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;
type Reply = { readonly call: string; readonly args?: object } | { readonly text: string };

const PRICE = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
const USAGE = { inputTokens: PRICE, outputTokens: { total: 1, text: 1, reasoning: 0 } };

function scripted(replies: readonly Reply[]) {
  const requests: CallOptions[] = [];
  const model = new ai6!.MockLanguageModelV3({
    doGenerate: async (options): Promise<Result> => {
      const reply = replies[requests.length]!;
      requests.push(options);
      const calls = "call" in reply;
      return {
        content: [
          calls
            ? {
                type: "tool-call",
                toolCallId: `call_${requests.length}`,
                toolName: reply.call,
                input: JSON.stringify(reply.args ?? {}),
              }
            : { type: "text", text: reply.text },
        ],
        finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
        usage: USAGE,
        warnings: [],
      };
    },
  });
  return { model, requests };
}

test.skipIf(!ai6)(
  "version 6: discovery, a call, a second turn, a repair, and memory of removed messages",
  async () => {
    const cms = createCms();
    const gateway = createGateway({
      domains: [cms.domain],
      principal: { id: "ed", scopes: [], allowWrite: true },
    });
    onTestFinished(async () => {
      await gateway.close();
      await cms.close();
    });
    const messages: ModelMessage[] = [];
    let handle = await gateway.openSession();

    async function turn(prompt: string, replies: readonly Reply[], trim?: { most: number; keep: number }) {
      const { model, requests } = scripted(replies);
      const turn = await toAISDKTools(gateway, { session: handle, ...(trim && { trim }) });
      const { session, instructions: system, repairToolCall, ...settings } = turn;
      handle = session;
      messages.push({ role: "user", content: prompt });
      const given = { ...settings, system, experimental_repairToolCall: repairToolCall };
      const result = await ai6!.generateText({
        ...(given as object),
        model,
        messages,
        stopWhen: ai6!.stepCountIs(10),
      } as Parameters<NonNullable<typeof ai6>["generateText"]>[0]);
      messages.push(...result.response.messages);
      const shown = requests.map(({ tools = [] }) => tools.map(({ name }) => name));
      return { shown, requests, text: result.text };
    }

    const direct = await turn("Hello", [{ text: "Good morning." }]);
    expect(direct).toMatchObject({ text: "Good morning.", shown: [["tool_search"]] });
    const simple = await turn("Find the hero image", [
      { call: "tool_search", args: { query: "find image" } },
      { call: "cms_searchImages", args: { query: "hero" } },
      { text: "hero-mountain-dawn.jpg" },
    ]);
    expect(simple.shown[1]).toContain("cms_searchImages");
    const second = await turn("One with snow?", [
      { call: "cms_searchImages", args: { query: "snow" } },
      { text: "Yes." },
    ]);
    expect(second.shown[0]).toContain("cms_searchImages");
    const repaired = await turn("Which pages are there?", [{ call: "cms_listPages" }, { text: "Ten." }]);
    expect(repaired.shown[1]).toContain("cms_listPages");
    expect(JSON.stringify(repaired.requests[1]?.prompt.at(-1))).toContain("page_home");

    const cut = await turn("Thank you.", [{ text: "Welcome." }], { most: 2, keep: 1 });
    const system = cut.requests[0]!.prompt.filter(({ role }) => role === "system");
    expect(JSON.stringify(system)).toMatch(/Find tools with.*working-memory.*page Home \(page_home\)/);

    messages.length = 0;
    const bare = await turn("Show the home page.", [
      { call: "cms_getPage", args: { page: "home" } },
      { text: "There." },
    ]);
    for (const { prompt } of bare.requests) expect(JSON.stringify(prompt[0])).toContain("Find tools with");
    const blocks = bare.requests.map(({ prompt }) =>
      JSON.stringify(prompt.slice(0, 2)).includes("working-memory"),
    );
    expect(blocks).toEqual([true, true]);
  },
);
