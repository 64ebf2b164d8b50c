import { randomUUID } from "node:crypto";
import type { Gateway } from "keyhole";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { chaos, eventually, gatewayOf } from "../upstream-kit.ts";
import { createFaultProxy } from "./fault-proxy.ts";
import { PROTOCOLS, serveUpstream } from "./http-upstream.ts";

describe.each(PROTOCOLS)("a server of the %s protocol", (protocol) => {
  /** A server behind a faulty network, beside a healthy one. */
  async function open(callMs = 60_000) {
    const upstream = await serveUpstream(protocol);
    const proxy = await createFaultProxy(upstream.port);
    const limits = { backoffMs: 1, restarts: 1_000, breakerMs: 50, breakerTimeouts: 2 };
    const web = createMcpSource(
      "web",
      { url: `http://127.0.0.1:${proxy.port}/mcp` },
      { trusted: true, limits },
    );
    const gateway = gatewayOf([web, chaos("good")], { limits: { callMs } });
    onTestFinished(async () => {
      await gateway.close();
      await proxy.close();
      await upstream.close();
    });
    await gateway.ready();
    return { gateway, proxy, upstream };
  }

  async function call(gateway: Gateway, op: string, bytes?: number) {
    const nonce = randomUUID();
    const answer = await gateway.exec({ op, args: { nonce, ...(bytes && { bytes }) } });
    return { nonce, answer };
  }

  async function works(gateway: Gateway) {
    await eventually(async () => {
      const { nonce, answer } = await call(gateway, "web.write");
      expect(answer).toMatchObject({ ok: true, result: nonce });
    });
  }

  async function neighbourWorks(gateway: Gateway) {
    const answer = await gateway.exec({ op: "good.add", args: { a: 1 } });
    expect(answer).toMatchObject({ ok: true, result: { a: 1 } });
  }

  test("network: latency and a narrow line delay a call and nothing else", async () => {
    const { gateway, proxy } = await open();
    proxy.set({ latencyMs: 50, bytesPerSecond: 20_000 });
    const slow = call(gateway, "web.read", 5_000);
    await neighbourWorks(gateway);
    const { nonce, answer } = await slow;
    expect(answer.ok && JSON.stringify(answer)).toContain(nonce);
  });

  test.each([0, 20, 150, 250, 400])(
    "network: an answer that is cut after %d bytes fails its call, which ran at most once",
    async (cutAfter) => {
      const { gateway, proxy, upstream } = await open();
      proxy.set({ cutAfter });
      const { nonce, answer } = await call(gateway, "web.write", 1_000);
      expect(answer).toMatchObject({ ok: false });
      expect(answer.text).toContain("web");
      const ran = upstream.calls.filter((one) => one === `write ${nonce}`).length;
      expect(ran).toBeLessThanOrEqual(1);
      await neighbourWorks(gateway);
      proxy.set({});
      await works(gateway);
    },
  );

  test("network: resets are named, and the server is used again when they end", async () => {
    const { gateway, proxy } = await open();
    proxy.set({ reset: true });
    const { answer } = await call(gateway, "web.write");
    expect(answer).toMatchObject({ ok: false });
    expect(answer.text).toContain("web");
    await neighbourWorks(gateway);
    proxy.set({});
    await works(gateway);
  });

  test("network: a line that swallows everything ends in a timeout, and heals", async () => {
    const { gateway, proxy } = await open(400);
    proxy.set({ blackhole: true });
    const { answer } = await call(gateway, "web.write");
    expect(answer).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    await neighbourWorks(gateway);
    proxy.set({});
    await works(gateway);
  });
});
