import type { Client } from "@modelcontextprotocol/client";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { createNoticeGate } from "../../src/sources/mcp/notice-gate.ts";
import { manualClock } from "../manual-clock.ts";
import { connect, ERAS } from "../mcp/connect.ts";
import { chaos, gatewayOf } from "../upstream-kit.ts";
import { PROTOCOLS, serveUpstream } from "./http-upstream.ts";

const COUNT = 20_000;

const progress = (token: number, progress: number) => ({
  method: "notifications/progress",
  params: { progressToken: token, progress },
});

function openGate() {
  const clock = manualClock();
  const gate = createNoticeGate(clock);
  const seen: string[] = [];
  return {
    clock,
    seen,
    take: (message: object, name: string) => gate.take(message, () => seen.push(name)),
  };
}

test("flood: a few notifications pass at once and unchanged", () => {
  const { seen, take } = openGate();
  for (let number = 0; number < 50; number += 1) take(progress(1, number), `${number}`);
  expect(seen).toEqual(Array.from({ length: 50 }, (_, number) => `${number}`));
});

test("flood: of many notifications the latest of each kind arrives", async () => {
  const { clock, seen, take } = openGate();
  for (let number = 0; number < 10_000; number += 1) take(progress(number % 3, number), `${number}`);
  expect(seen).toHaveLength(50);
  await clock.advance(100);
  expect(seen.slice(50)).toEqual(["9997", "9998", "9999"]);
  await clock.advance(1_000);
  take(progress(1, 1), "later");
  expect(seen.at(-1)).toBe("later");
});

test("flood: an answer comes after the notifications before it", () => {
  const { seen, take } = openGate();
  for (let number = 0; number < 1_000; number += 1) take(progress(1, number), `${number}`);
  take({ id: 1, result: {} }, "answer");
  expect(seen.slice(-2)).toEqual(["999", "answer"]);
});

test("flood: answers between notifications do not let a flood through", () => {
  const { seen, take } = openGate();
  for (let number = 0; number < 10_000; number += 1) {
    take(progress(1, number), "notice");
    take({ id: number, result: {} }, "answer");
  }
  expect(seen.filter((name) => name === "notice").length).toBeLessThanOrEqual(100);
  expect(seen.filter((name) => name === "answer")).toHaveLength(10_000);
});

test("flood: kinds without end are bounded", async () => {
  const { clock, seen, take } = openGate();
  for (let number = 0; number < 10_000; number += 1) take(progress(number, number), `${number}`);
  await clock.advance(100);
  expect(seen.length).toBeLessThanOrEqual(50 + 64);
  expect(seen.at(-1)).toBe("9999");
});

describe.each(ERAS)("a client of %s", (era) => {
  test.each(["progress", "log", "list", "update"])(
    "flood: a server that floods with %s messages stays usable, and so does its neighbour",
    async (of) => {
      const gateway = gatewayOf([chaos("bad"), chaos("good")]);
      const server = createMcpServer(gateway, { surface: "native" });
      onTestFinished(async () => {
        await server.close();
        await gateway.close();
      });
      const { client, received } = await connect(server, era);
      const updates: number[] = [];
      const flooded = client.callTool(
        { name: "bad_flood", arguments: { of, count: COUNT } },
        { onprogress: (update) => updates.push(update.progress) },
      );
      expect(await callTool(client, "good_add", { a: 1 })).toContain('{"a":1}');
      expect(JSON.stringify(await flooded)).toContain("flooded");
      expect(await callTool(client, "bad_add", { b: 2 })).toContain('{"b":2}');
      expect(received.length).toBeLessThan(COUNT / 2);
      if (of === "progress") expect(updates.length).toBeGreaterThan(10);
      expect(updates).toEqual(updates.toSorted((one, other) => one - other));
    },
  );
});

test.each(PROTOCOLS)(
  "flood: progress of a server over HTTP is coalesced in the %s protocol",
  async (protocol) => {
    const upstream = await serveUpstream(protocol);
    const url = `http://127.0.0.1:${upstream.port}/mcp`;
    const gateway = gatewayOf([createMcpSource("web", { url }, { trusted: true })]);
    const server = createMcpServer(gateway, { surface: "native" });
    onTestFinished(async () => {
      await server.close();
      await gateway.close();
      await upstream.close();
    });
    const { client } = await connect(server, "2025-11-25");
    let updates = 0;
    const flooded = await client.callTool(
      { name: "web_flood", arguments: { count: 5_000 } },
      {
        onprogress: () => {
          updates += 1;
        },
      },
    );
    expect(JSON.stringify(flooded)).toContain("flooded");
    expect(updates).toBeGreaterThan(10);
    expect(updates).toBeLessThan(5_000);
  },
);

async function callTool(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text: string }[])[0]?.text ?? "";
}
