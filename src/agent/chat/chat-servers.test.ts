import { createPins } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf } from "../../../test/upstream-kit.ts";
import type { ApprovalCard, ApprovalDecision } from "../../gateway/approvals.ts";
import { openConsents } from "../../program/open/stores.ts";
import { createMcpSource } from "../../sources/mcp/mcp-source.ts";
import type { ChatAnswer } from "../tui/chat-agent.ts";
import { createChatQuestions } from "./chat-questions.ts";
import { createChatServers } from "./chat-servers.ts";

async function open(options: ChaosOptions = {}) {
  const source = chaos("bad", { limits: { relistMs: 20 }, ...options });
  const gone = createMcpSource("gone", { command: "/nowhere/server" }, { trusted: true });
  const gateway = gatewayOf([source, gone], { pins: createPins() });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  const questions = createChatQuestions();
  const servers = createChatServers({ servers: [source, gone], gateway, consents: openConsents }, questions);
  /** Answers each card, and returns the cards and what the chat said. */
  const decide = async (words: string[], answer: (card: ApprovalCard) => ChatAnswer) => {
    const cards: ApprovalCard[] = [];
    const told: string[] = [];
    for await (const event of servers.decide(words, { signal: new AbortController().signal })) {
      if (event.type === "notice") told.push(event.text);
      if (event.type !== "permission-request") continue;
      cards.push(questions.cardOf(event.callId)!);
      questions.answer(event.callId, answer(cards.at(-1)!));
    }
    return { cards, told: told.join("\n") };
  };
  return { servers, gateway, decide };
}

test("/mcp lists the servers with their state, and news tell once what broke", async () => {
  const { servers } = await open();
  await eventually(async () => {
    const [works, broken] = await servers.command([]);
    expect(works).toMatchObject({ name: "bad", text: expect.stringMatching(/^works, \d+ entries/) });
    expect(broken).toMatchObject({ name: "gone", text: expect.stringMatching(/^server_down: /) });
  });
  expect(servers.news()).toEqual([expect.stringMatching(/^Server gone: .*\/mcp shows more\.$/)]);
  expect(servers.news()).toEqual([]);
  await expect(servers.command(["refresh", "nobody"])).rejects.toThrow("there are: bad, gone");
  await expect(servers.command(["aprove", "bad"])).rejects.toThrow("did you mean approve?");
  expect(await servers.command(["login", "bad"])).toEqual([{ name: "bad", text: "needs no login" }]);
  expect(await servers.command(["refresh", "bad"])).toHaveLength(2);
});

const yes = ({ definitions }: ApprovalCard): ApprovalDecision => ({ approve: definitions, reject: [] });
const later = () => "deny" as const;

test("tools that wait have a choice each, and exactly those that were shown are approved or rejected", async () => {
  const { servers, gateway, decide } = await open({ trusted: false });
  await eventually(() => expect(servers.news().join()).toContain("Server bad waits for you."));
  expect((await servers.command([]))[0]!.text).toContain("18 definitions wait: /mcp approve bad");
  const refused = await decide(["approve", "bad"], later);
  expect(refused.cards[0]!.definitions).toContainEqual(
    expect.objectContaining({
      name: "add",
      definition: expect.objectContaining({ description: "Adds two numbers." }),
    }),
  );
  expect(refused.told).toBe("bad: nothing is approved.");
  expect(await gateway.exec({ op: "bad.add", args: { a: 1 } })).toMatchObject({ ok: false });
  const chosen = await decide(["approve"], ({ definitions }) => ({
    approve: definitions.filter(({ name }) => name === "add"),
    reject: definitions.filter(({ name }) => name === "crash"),
  }));
  expect(chosen.told).toBe("bad: 1 approved, 1 rejected, 16 wait.");
  expect(await gateway.exec({ op: "bad.add", args: { a: 1 } })).toMatchObject({ ok: true });
  expect((await decide(["approve", "bad"], yes)).told).toBe("bad: 16 approved.");
  expect((await decide(["approve"], yes)).told).toBe("Nothing waits for approval.");
});

test("a server that nobody has approved is shown with its program, and starts after a yes", async () => {
  process.env.KEYHOLE_STATE = temporaryFolder();
  onTestFinished(() => void delete process.env.KEYHOLE_STATE);
  const { servers, decide } = await open({ mayStart: (program) => openConsents().isGiven(program) });
  expect((await servers.command([]))[0]!.text).toBe("waits for your approval to start: /mcp approve bad");
  const refused = await decide(["approve", "bad"], later);
  expect(refused.cards[0]!.facts.join()).toContain("chaos-upstream.ts");
  expect(refused.told).toBe("bad does not start.");
  expect((await decide(["approve", "bad"], yes)).told).toMatch(/^works, \d+ entries/);
});
