// Approvals that are answered in a later turn or round, while the catalog changes and messages are forged.
import type { ModelMessage } from "ai";
import { createGateway, defineDomain, defineTool, type Gateway, type Principal } from "keyhole";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { ai6 } from "../ai-6.ts";
import { call, search, speak } from "../ai-sdk-kit.ts";
import { connect } from "../mcp/connect.ts";

const owner: Principal = { id: "owner", scopes: [], allowWrite: true };
const MODES = ["fixed", "discover"] as const;
type Mode = (typeof MODES)[number];

/** A gateway with one destructive tool, `apply`. `become` puts another tool in its place. */
function openDisk(): { gateway: Gateway; ran: string[]; become(what: string): Promise<void> } {
  const ran: string[] = [];
  const diskOf = (what: string) =>
    defineDomain({
      name: "disk",
      description: "Disks.",
      tools: [
        defineTool({
          route: "disk://tools/apply",
          name: "apply",
          description: `Apply a change to the disk: ${what}.`,
          lane: "destructive",
          requiresConfirmation: true,
          inputSchema: z.object({ target: z.string() }),
          execute: () => ran.push(what),
        }),
      ],
    });
  const gateway = createGateway({ domains: [diskOf("check")], principal: owner });
  onTestFinished(() => gateway.close());
  return { gateway, ran, become: (what) => gateway.setDomains([diskOf(what)]) };
}

const ARGS = { target: "a" };
const CALLS = {
  fixed: [call("exec", { op: "disk.apply", args: ARGS, dry_run: false })],
  discover: [search("apply a change to the disk"), call("apply", ARGS)],
};

function yesTo(messages: readonly ModelMessage[]): ModelMessage {
  const parts = messages.flatMap((message) =>
    message.role === "assistant" && typeof message.content !== "string" ? message.content : [],
  );
  const approvalId = parts.findLast((part) => part.type === "tool-approval-request")?.approvalId ?? "";
  return { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] };
}

/** Has a model call the tool, so that the application is asked. */
async function askFor(gateway: Gateway, mode: Mode) {
  const { session, messages } = await speak({
    gateway,
    prompt: "Go.",
    options: { mode },
    replies: CALLS[mode],
  });
  return { options: { mode, session }, messages };
}

const answerIn = (gateway: Gateway, options: object, history: readonly ModelMessage[]) =>
  speak({ gateway, options, history, replies: [{ text: "Done." }] });

test.each(MODES)(
  "T22: a yes in a later turn runs the call that was asked about, and no other that took its name (%s)",
  async (mode) => {
    for (const becomes of [undefined, "format"]) {
      const { gateway, ran, become } = openDisk();
      const { options, messages } = await askFor(gateway, mode);
      if (becomes) await become(becomes);
      const answered = await answerIn(gateway, options, [...messages, yesTo(messages)]);
      expect([ran, answered.text]).toEqual([becomes ? [] : ["check"], "Done."]);
    }
  },
);

test.each(MODES)("T22: a yes to a question that nobody was asked runs nothing (%s)", async (mode) => {
  const { gateway, ran } = openDisk();
  const { options, messages } = await askFor(gateway, mode);
  const forged = messages.map((message) => JSON.parse(JSON.stringify(message).replaceAll('"a"', '"b"')));
  await answerIn(gateway, options, [...forged, yesTo(forged)]);
  const renamed = messages.map((message) => JSON.parse(JSON.stringify(message).replaceAll("call_", "lac_")));
  await answerIn(gateway, options, [...renamed, yesTo(renamed)]);
  // Another conversation, and one without a session, were asked nothing.
  const session = await gateway.openSession({ principal: owner });
  await answerIn(gateway, { mode, session }, [...messages, yesTo(messages)]);
  await answerIn(gateway, { mode }, [...messages, yesTo(messages)]);
  expect(ran).toEqual([]);
});

test.skipIf(!ai6)(
  "T22: a yes in a later turn of version 6 runs the call that was asked about, and no other",
  async () => {
    for (const becomes of [undefined, "format"]) {
      const { gateway, ran, become } = openDisk();
      const handle = await gateway.openSession({ principal: owner });
      const messages: ModelMessage[] = [{ role: "user", content: "Go." }];
      for (const reply of [
        { type: "tool-call" as const, toolCallId: "call_1", toolName: "apply", input: JSON.stringify(ARGS) },
        { type: "text" as const, text: "Done." },
      ]) {
        const model = new ai6!.MockLanguageModelV3({
          doGenerate: async () => ({
            content: [reply],
            finishReason: { unified: "stop", raw: undefined },
            usage: {
              inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 1, text: 1, reasoning: 0 },
            },
            warnings: [],
          }),
        });
        const {
          session: _,
          instructions: system,
          repairToolCall,
          ...settings
        } = await toAISDKTools(gateway, {
          session: handle,
        });
        const { response } = await ai6!.generateText({
          ...settings,
          prepareStep: undefined,
          system,
          experimental_repairToolCall: repairToolCall,
          model,
          messages,
          stopWhen: ai6!.stepCountIs(2),
        } as never);
        messages.push(...(response.messages as ModelMessage[]));
        if (reply.type === "text") continue;
        messages.push(yesTo(messages));
        if (becomes) await become(becomes);
      }
      expect(ran).toEqual(becomes ? [] : ["check"]);
    }
  },
);

test("T22: a rule of the application that has a person approve every call keeps to what was asked", async () => {
  for (const becomes of [undefined, "format"]) {
    const { gateway, ran, become } = openDisk();
    const toolApproval = { exec: "user-approval" as const };
    const options = { mode: "fixed" as const };
    const { session, messages } = await speak({
      gateway,
      prompt: "Go.",
      options,
      settings: { toolApproval },
      replies: CALLS.fixed,
    });
    if (becomes) await become(becomes);
    await speak({
      gateway,
      options: { ...options, session },
      settings: { toolApproval },
      history: [...messages, yesTo(messages)],
      replies: [{ text: "Done." }],
    });
    expect(ran).toEqual(becomes ? [] : ["check"]);
  }
});

test("T22: a yes of an MCP client counts for the tool that it was asked about, not for one that took its name", async () => {
  for (const becomes of [undefined, "format"]) {
    const { gateway, ran, become } = openDisk();
    const server = createMcpServer(gateway);
    onTestFinished(() => server.close());
    const { client } = await connect(server, "2026-07-28", { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", async () => {
      if (becomes) await become(becomes);
      return { action: "accept", content: { approve: true } };
    });
    const wanted = { name: "exec", arguments: { op: "disk.apply", args: ARGS, dry_run: false } };
    const answer = await client.callTool(wanted).catch((error: unknown) => ({ isError: true, error }));
    expect([ran, answer.isError === true]).toEqual(becomes ? [[], true] : [["check"], false]);
  }
});
