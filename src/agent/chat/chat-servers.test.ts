import { createPins } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf } from "../../../test/upstream-kit.ts";
import { openConsents } from "../../program/open/stores.ts";
import { createMcpSource } from "../../sources/mcp/mcp-source.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import type { PermissionAnswer } from "../tui/chat-agent.ts";
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
  const decide = async (words: string[], answer: PermissionAnswer) => {
    const events: AgentEvent[] = [];
    for await (const event of servers.decide(words, { signal: new AbortController().signal })) {
      events.push(event);
      if (event.type === "permission-request") questions.answer(event.callId, answer);
    }
    const asked = events.find((event) => event.type === "permission-request");
    const [told = ""] = events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
    return { asked: asked?.type === "permission-request" ? asked.action : undefined, told };
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

test("definitions that wait are shown whole, and a yes approves exactly those", async () => {
  const { servers, gateway, decide } = await open({ trusted: false });
  await eventually(() => expect(servers.news().join()).toContain("definitions wait for approval"));
  expect((await servers.command([]))[0]!.text).toContain("/mcp approve bad shows them");
  const refused = await decide(["approve", "bad"], "deny");
  expect(refused.asked).toContain("bad://tools/add (pending)");
  expect(refused.asked).toContain("Adds two numbers.");
  expect(refused.told).toBe("Nothing is approved.");
  expect(await gateway.exec({ op: "bad.add", args: { a: 1 } })).toMatchObject({ ok: false });
  expect((await decide(["approve", "bad"], "once")).told).toMatch(/^Approved definitions of bad: \d+\.$/);
  expect(await gateway.exec({ op: "bad.add", args: { a: 1 } })).toMatchObject({ ok: true });
  expect((await decide(["approve", "bad"], "once")).told).toBe("Nothing of bad waits for approval.");
});

test("a server that nobody has allowed to start is shown with its program, and starts after a yes", async () => {
  process.env.KEYHOLE_STATE = temporaryFolder();
  onTestFinished(() => void delete process.env.KEYHOLE_STATE);
  const { servers, decide } = await open({ mayStart: (program) => openConsents().isGiven(program) });
  expect((await servers.command([]))[0]!.text).toContain("/mcp allow bad shows what it runs");
  const refused = await decide(["allow", "bad"], "deny");
  expect(refused.asked).toContain("chaos-upstream.ts");
  expect(refused.told).toBe("It does not start.");
  const allowed = await decide(["allow", "bad"], "once");
  expect(allowed.told).toMatch(/^works, \d+ entries/);
  expect((await decide(["allow", "bad"], "once")).told).toBe("bad may start already.");
});
