import fc from "fast-check";
import type { Gateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished, test, vi } from "vitest";
import { connect, connectHttp, ERAS } from "../mcp/connect.ts";
import { clerk, createShop } from "../shop.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf, operator } from "../upstream-kit.ts";

function open(options: ChaosOptions = {}) {
  const bad = chaos("bad", options);
  const gateway = gatewayOf([bad, chaos("good")]);
  onTestFinished(() => gateway.close());
  return { bad, gateway };
}

async function neighbourWorks(gateway: Gateway) {
  expect(await gateway.exec({ op: "good.add", args: { a: 1 } })).toMatchObject({
    ok: true,
    result: { a: 1 },
  });
}

test("long-line: a line that never ends fails its call and ends only that server", async () => {
  const { gateway } = open({ limits: { maxLineBytes: 4 * 1024 * 1024 } });
  const refused = await gateway.exec({ op: "bad.no_newline", args: {} });
  expect(refused).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
  expect(refused.text).toContain("a line longer than 4194304 bytes");
  await neighbourWorks(gateway);
  expect(await gateway.exec({ op: "bad.add", args: { b: 2 } })).toMatchObject({ ok: true });
});

test("malformed-upstream: a result of any shape is an answer or a named problem", async () => {
  const { gateway, bad } = open();
  await gateway.ready();
  const content = fc.array(
    fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constantFrom("text", "image", "resource", "x"),
        text: fc.jsonValue(),
        data: fc.jsonValue(),
      }),
    ),
    { maxLength: 3 },
  );
  const result = fc.oneof(
    fc.jsonValue(),
    fc.record({ content: fc.oneof(content, fc.jsonValue()), isError: fc.jsonValue() }, { requiredKeys: [] }),
    fc.record({ content, structuredContent: fc.jsonValue(), _meta: fc.jsonValue() }),
  );
  await fc.assert(
    fc.asyncProperty(result, async (given) => {
      const answer = await gateway.exec({ op: "bad.shape", args: { result: given } });
      if (!answer.ok) expect(["UPSTREAM_ERROR", "INVALID_PARAMS"]).toContain(answer.error.code);
      expect(answer.text).toEqual(answer.text.toWellFormed());
    }),
    { numRuns: 200 },
  );
  expect(bad.diagnostics().starts).toBe(1);
  await neighbourWorks(gateway);
});

test("reconnect-storm: 500 calls after a crash start the server once", async () => {
  const { gateway, bad } = open({ limits: { queue: 1_000, backoffMs: 1 } });
  await gateway.ready();
  for (let round = 1; round <= 3; round += 1) {
    process.kill(bad.diagnostics().pid!, "SIGKILL");
    await eventually(() => expect(bad.diagnostics().connected).toBe(false));
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, number) => gateway.exec({ op: "bad.add", args: { number } })),
    );
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    expect(bad.diagnostics().starts).toBe(1 + round);
  }
});

test.each([1, -1])(
  "clock-jump: a clock that is set by %d day ends no session, handle or call",
  async (days) => {
    const gateway = gatewayOf([chaos("bad")], { limits: { callMs: 5_000 } });
    onTestFinished(() => gateway.close());
    await gateway.ready();
    const session = await gateway.openSession({ principal: operator });
    const stored = await gateway.exec({ op: "bad.big_line", args: {}, session });
    const handle = /result:\/\/[\w-]+/.exec(stored.text)?.[0] ?? "";
    const key = { op: "bad.add", args: { a: 1 }, idempotencyKey: "k" };
    const first = await gateway.exec(key);
    const running = gateway.exec({ op: "bad.slow", args: { ms: 300 } });
    const now = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => now() + days * 24 * 60 * 60_000);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await running).toMatchObject({ ok: true, result: "at last" });
    const { results } = await gateway.get({ routes: [{ route: handle }], session });
    expect(results).toMatchObject([{ ok: true }]);
    expect(await gateway.exec(key)).toMatchObject({ ok: first.ok });
    expect(await gateway.exec({ op: "bad.add", args: { a: 2 }, session })).toMatchObject({ ok: true });
  },
);

test("clock-jump: sessions of the older protocol outlive a clock that is set", async () => {
  const server = createMcpServer(gatewayOf([], { domains: createShop().domains }));
  onTestFinished(() => server.close());
  const { client } = await connectHttp(server, "2025-11-25", { principal: clerk });
  const now = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => now() + 24 * 60 * 60_000);
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
});

test.each(ERAS)("search-abuse: queries of any size and script are answered in %s", async (era) => {
  const server = createMcpServer(gatewayOf([], { domains: createShop().domains }));
  onTestFinished(() => server.close());
  const { client } = await connect(server, era);
  const texts = [
    "a".repeat(1_000_000),
    "(a+)+$".repeat(10_000),
    "\u{1F600}".repeat(50_000),
    "\u202E\u0000",
    "漢字".repeat(50_000),
  ];
  for (const query of texts) {
    const { content } = await client.callTool({ name: "ask", arguments: { query } });
    expect(JSON.stringify(content).length).toBeLessThan(20_000);
  }
  await client.close();
});
