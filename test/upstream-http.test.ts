import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import type { McpSource, McpSourceOptions } from "keyhole/sources";
import { expect } from "vitest";
import { z } from "zod";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { chaos, eventually, gatewayOf } from "./upstream-kit.ts";

interface HttpServer {
  readonly url: string;
  /** While set, every answer has this status. */
  fail: number | undefined;
  readonly seen: { readonly authorization: string | undefined; readonly method: unknown }[];
  close(): void;
}

async function serve(legacy: "stateless" | "reject" = "stateless"): Promise<HttpServer> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "web", version: "1.0.0" });
      server.registerTool(
        "greet",
        { description: "Greets somebody.", inputSchema: z.object({ who: z.string() }) },
        ({ who }) => ({ content: [{ type: "text", text: `Hello ${who}` }] }),
      );
      return server;
    },
    { legacy },
  );
  const state: Pick<HttpServer, "fail" | "seen"> = { fail: undefined, seen: [] };
  const http = createServer(async (request, response) => {
    state.seen.push({
      authorization: request.headers.authorization,
      method: request.headers["mcp-method"],
    });
    if (state.fail !== undefined) return void response.writeHead(state.fail).end("secret body");
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
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return Object.assign(state, {
    url,
    close: () => {
      http.closeAllConnections();
      http.close();
    },
  });
}

function web(url: string, options: McpSourceOptions & { headers?: Record<string, string> } = {}): McpSource {
  const { headers = {}, ...rest } = options;
  return createMcpSource("web", { type: "http", url, headers }, { trusted: true, ...rest });
}

verifies("upstream:real", "an HTTP server is used in the newer protocol", async () => {
  const server = await serve("reject");
  const source = web(server.url);
  const gateway = gatewayOf([source]);
  const greeted = await gateway.exec({ op: "web.greet", args: { who: "Ada" } });
  expect(greeted).toMatchObject({ ok: true, result: "Hello Ada" });
  expect(source.diagnostics().protocol).toBe("modern");
  await gateway.close();
  server.close();
});

verifies("upstream:lazy", "the protocol of a server is probed once", async () => {
  const server = await serve("reject");
  const cacheDirectory = temporaryFolder();
  const asked = async () => {
    const gateway = gatewayOf([web(server.url, { cacheDirectory })]);
    expect(await gateway.exec({ op: "web.greet", args: { who: "Ada" } })).toMatchObject({ ok: true });
    await gateway.close();
    return server.seen.splice(0).filter(({ method }) => method === "server/discover").length;
  };
  expect([await asked(), await asked()]).toEqual([1, 0]);
  server.close();
});

verifies(["upstream:secrets", "T14"], "headers reach the server and appear in no message", async () => {
  const server = await serve();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in from the variables.
  const headers = { Authorization: "Bearer ${env:WEB_TOKEN}" };
  const source = web(server.url, { headers, variables: { WEB_TOKEN: "t0ps3cret" } });
  const gateway = gatewayOf([source]);
  await gateway.exec({ op: "web.greet", args: { who: "Ada" } });
  expect(server.seen.every(({ authorization }) => authorization === "Bearer t0ps3cret")).toBe(true);
  server.fail = 500;
  const failed = await gateway.exec({ op: "web.greet", args: { who: "Ada" } });
  expect(failed).toMatchObject({ ok: false });
  expect(JSON.stringify([failed, source.diagnostics()])).not.toMatch(/t0ps3cret|secret body/);
  await gateway.close();
  server.close();
});

for (const status of [401, 403]) {
  verifies("upstream:faults", `HTTP ${status} needs a login and does not affect the others`, async () => {
    const server = await serve();
    server.fail = status;
    const gateway = gatewayOf([web(server.url), chaos("good")]);
    await gateway.ready();
    const { text } = await gateway.ask({ query: "web" });
    expect(text).toContain(`needs_login: it wants a login (HTTP ${status})`);
    expect(await gateway.exec({ op: "good.add", args: {} })).toMatchObject({ ok: true });
    await gateway.close();
    server.close();
  });
}

for (const status of [403, 429, 500, 503]) {
  verifies(
    "upstream:faults",
    `HTTP ${status} during a call is reported, and the next call works`,
    async () => {
      const server = await serve();
      const gateway = gatewayOf([web(server.url)]);
      await gateway.ready();
      server.fail = status;
      const failed = await gateway.exec({ op: "web.greet", args: { who: "Ada" } });
      expect(failed.text).toContain(`The server web answered with an error: it answers with HTTP ${status}`);
      server.fail = undefined;
      expect(await gateway.exec({ op: "web.greet", args: { who: "Ada" } })).toMatchObject({ ok: true });
      await gateway.close();
      server.close();
    },
  );
}

verifies("upstream:faults", "a silent server is down, and is used again when it answers", async () => {
  const server = await serve();
  server.fail = 503;
  const gateway = gatewayOf([web(server.url, { limits: { backoffMs: 20 } })]);
  await gateway.ready();
  expect((await gateway.ask({ query: "web" })).text).toContain("server_down: it answers with HTTP 503");
  server.fail = undefined;
  await eventually(async () => {
    expect(await gateway.exec({ op: "web.greet", args: { who: "Ada" } })).toMatchObject({ ok: true });
  });
  await gateway.close();
  server.close();
});

verifies("upstream:faults", "a refused connection is named", async () => {
  const server = await serve();
  server.close();
  const gateway = gatewayOf([web(server.url)]);
  await gateway.ready();
  expect((await gateway.ask({ query: "web" })).text).toContain("it cannot be reached (ECONNREFUSED)");
  await gateway.close();
});

verifies(["upstream:faults", "network"], "a TLS error is named", async () => {
  const server = await serve();
  const gateway = gatewayOf([web(server.url.replace("http:", "https:"))]);
  await gateway.ready();
  expect((await gateway.ask({ query: "web" })).text).toMatch(/it cannot be reached \(ERR_SSL_[A-Z_]+\)/);
  await gateway.close();
  server.close();
});

verifies("upstream:faults", "an expired login has to be repeated, and then calls work", async () => {
  const server = await serve();
  const gateway = gatewayOf([web(server.url, { limits: { backoffMs: 20 } })]);
  await gateway.ready();
  server.fail = 401;
  const refused = await gateway.exec({ op: "web.greet", args: { who: "Ada" } });
  expect(refused.text).toContain("needs_login");
  server.fail = undefined;
  await eventually(async () => {
    expect(await gateway.exec({ op: "web.greet", args: { who: "Ada" } })).toMatchObject({ ok: true });
  });
  await gateway.close();
  server.close();
});
