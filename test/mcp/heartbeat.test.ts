import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import type { CallContext } from "../../src/core/nouns/entry.ts";
import { manualClock } from "../manual-clock.ts";
import { connect, ERAS, type Era } from "./connect.ts";

/** A call that runs until the test ends it, for a client that asks for progress. */
async function startCall(era: Era, onprogress?: (update: { progress: number; message?: string }) => void) {
  const clock = manualClock();
  const begun = Promise.withResolvers<CallContext>();
  const ended = Promise.withResolvers<string>();
  const scan = defineTool({
    name: "read_scan",
    description: "Scans.",
    execute: (_: unknown, context: CallContext) => {
      begun.resolve(context);
      return ended.promise;
    },
  });
  const lab = defineDomain({ name: "lab", description: "A lab.", tools: [scan] });
  const gateway = createGateway({ domains: [lab], clock });
  const server = createMcpServer(gateway);
  onTestFinished(async () => {
    await server.close();
    await gateway.close();
  });
  const { client, received } = await connect(server, era);
  const [op] = (await gateway.view()).entries.map((entry) => entry.op);
  const called = client.callTool({ name: "exec", arguments: { op } }, onprogress && { onprogress });
  return { clock, context: await begun.promise, ended, called, received };
}

test.each(ERAS)("a silent call of 100 s reports every 15 s to a client of %s", async (era) => {
  const heard: { progress: number; message?: string }[] = [];
  const { clock, ended, called } = await startCall(era, (update) => heard.push(update));
  await clock.advance(100_000);
  expect(heard.map(({ message }) => message)).toEqual(
    [15, 30, 45, 60, 75, 90].map((seconds) => `Still running after ${seconds} s.`),
  );
  ended.resolve("clean");
  expect(JSON.stringify(await called)).toContain("clean");
  await clock.advance(100_000);
  expect(heard).toHaveLength(6);
});

test("reports of a tool go on growing between those of a silent time", async () => {
  const heard: number[] = [];
  const { clock, context, ended, called } = await startCall("2026-07-28", ({ progress }) =>
    heard.push(progress),
  );
  await clock.advance(20_000);
  context.client?.progress({ progress: 1, total: 2 });
  await clock.advance(14_000);
  context.client?.progress({ progress: 2, total: 2 });
  await clock.advance(16_000);
  ended.resolve("clean");
  await called;
  expect(heard).toEqual([...heard].sort((left, right) => left - right));
  expect(new Set(heard).size).toBe(4);
});

test("a client that asks for no progress hears none", async () => {
  const { clock, ended, called, received } = await startCall("2025-11-25");
  await clock.advance(100_000);
  ended.resolve("clean");
  await called;
  expect(received.join()).not.toContain("notifications/progress");
});
