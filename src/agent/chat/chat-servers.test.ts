import { createPins } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf } from "../../../test/upstream-kit.ts";
import { openConsents } from "../../program/open/stores.ts";
import { createMcpSource } from "../../sources/mcp/mcp-source.ts";
import { createChatQuestions } from "./chat-questions.ts";
import { createChatServers } from "./chat-servers.ts";

async function open(options: ChaosOptions = {}) {
  const source = chaos("bad", { limits: { relistMs: 20 }, ...options });
  const gone = createMcpSource("gone", { command: "/nowhere/server" }, { trusted: true });
  const gateway = gatewayOf([source, gone], { pins: createPins() });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  const servers = createChatServers(
    { servers: [source, gone], gateway, approve: async () => {} },
    createChatQuestions(),
  );
  return servers;
}

test("/mcp lists the servers with their state, and news tell once what broke", async () => {
  const servers = await open();
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

test("news and /mcp name a server whose tools or whose start wait for the person", async () => {
  const tools = await open({ trusted: false });
  await eventually(() => expect(tools.news().join()).toContain("Server bad waits for you."));
  expect((await tools.command([]))[0]!.text).toContain("18 definitions wait: /mcp approve bad");
  process.env.KEYHOLE_STATE = temporaryFolder();
  onTestFinished(() => void delete process.env.KEYHOLE_STATE);
  const start = await open({ mayStart: (program) => openConsents().isGiven(program) });
  expect((await start.command([]))[0]!.text).toBe("waits for your approval to start: /mcp approve bad");
});
