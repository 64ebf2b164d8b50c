import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { completable, createMcpHandler, McpServer as SdkServer } from "@modelcontextprotocol/server";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { SURFACES } from "../../src/core/surfaces/surface-names.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { gatewayOf, PATIENT } from "../upstream-kit.ts";
import { connect, ERAS } from "./connect.ts";

/** A server that suggests cities for an argument of its prompt. */
async function serveCities(): Promise<string> {
  const handler = createMcpHandler(() => {
    const server = new SdkServer({ name: "cities", version: "1" });
    const city = completable(z.string(), (typed, context) =>
      ["Paris", "Parma", "Rome"].filter(
        (name) => name.startsWith(typed) && context?.arguments?.land !== "none",
      ),
    );
    server.registerPrompt("visit", { argsSchema: z.object({ city, land: z.string().optional() }) }, () => ({
      messages: [{ role: "user", content: { type: "text", text: "Go." } }],
    }));
    return server;
  });
  const http = createServer(async (request, response) => {
    const body = await buffer(request);
    const answer = await handler.fetch(
      new Request(`http://localhost${request.url}`, {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        ...(body.length > 0 && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

verifies(
  "mcp:completion",
  "arguments of an upstream's prompt are completed by the upstream on every surface, if it is approved",
  async () => {
    const url = await serveCities();
    for (const trusted of [true, false]) {
      const gateway = gatewayOf([createMcpSource("map", { url }, { trusted, limits: PATIENT })]);
      onTestFinished(() => gateway.close());
      await gateway.ready();
      for (const [era, surface] of ERAS.flatMap((era) =>
        SURFACES.map((surface) => [era, surface] as const),
      )) {
        const server = createMcpServer(gateway, { surface });
        const { client } = await connect(server, era);
        const { prompts } = await client.listPrompts();
        const ref = { type: "ref/prompt" as const, name: prompts[0]?.name ?? "visit" };
        const suggest = async (land: string) =>
          (
            await client.complete({
              ref,
              argument: { name: "city", value: "Pa" },
              context: { arguments: { land } },
            })
          ).completion.values;
        expect(await suggest("any"), surface).toEqual(trusted ? ["Paris", "Parma"] : []);
        expect(await suggest("none")).toEqual([]);
        await client.close();
        await server.close();
      }
    }
  },
);
