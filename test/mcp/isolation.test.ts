import { createGateway, defineDomain, defineTool, type Principal } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect } from "vitest";
import { z } from "zod";
import { verifies } from "../claims.ts";
import { connect, connectHttp, ERAS } from "./connect.ts";

const CLIENTS = 60;
const CALLS = 5;

const echo = defineTool({
  name: "get_echo",
  op: "echo.say",
  description: "Says who asked for what.",
  inputSchema: z.object({ nonce: z.string() }),
  execute: async ({ nonce }, { principal }) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    return `${principal.id}/${nonce}`;
  },
});

describe.each(ERAS)("clients of %s", (era) => {
  verifies(["mcp:isolation", "T13"], "get their own answers when many call at once", async () => {
    const gateway = createGateway({
      domains: [defineDomain({ name: "echo", description: "Echo.", tools: [echo] })],
    });
    const server = createMcpServer(gateway, { structured: true });
    const wrong: string[] = [];
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, index) => {
        const principal: Principal = { id: `p${index}`, scopes: [], allowWrite: false };
        const { client } = await connectHttp(server, era, { principal });
        for (let call = 0; call < CALLS; call++) {
          const nonce = `${index}-${call}`;
          const answer = await client.callTool({
            name: "exec",
            arguments: { op: "echo.say", args: { nonce } },
          });
          const { result } = answer.structuredContent as { result: string };
          if (result !== `p${index}/${nonce}`) wrong.push(result);
        }
        await client.close();
      }),
    );
    expect(wrong).toEqual([]);
    await server.close();
  });

  describe.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("over %s", (_, open) => {
    verifies(["mcp:cancel", "client-gone"], "aborts the signal of the tool", async () => {
      const started = Promise.withResolvers<void>();
      const raised = Promise.withResolvers<void>();
      const wait = defineTool({
        name: "get_nothing",
        op: "slow.wait",
        description: "Waits until it is told to stop.",
        execute: (_, { signal }) => {
          started.resolve();
          signal.addEventListener("abort", () => raised.resolve(), { once: true });
          return raised.promise;
        },
      });
      const gateway = createGateway({
        domains: [defineDomain({ name: "slow", description: "Slow.", tools: [wait] })],
      });
      const server = createMcpServer(gateway, { structured: true });
      const { client } = await open(server, era);
      const giveUp = new AbortController();
      const call = client.callTool(
        { name: "exec", arguments: { op: "slow.wait" } },
        { signal: giveUp.signal },
      );
      call.catch(() => {});
      await started.promise;
      giveUp.abort();
      await raised.promise;
      await expect(call).rejects.toThrow();
      await server.close();
    });
  });
});
