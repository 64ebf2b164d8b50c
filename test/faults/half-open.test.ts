import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createGateway } from "keyhole";
import { createMcpServer, type HttpOptions, serveHttp } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { Unfinished } from "../../src/faces/mcp/serve-http.ts";
import { clerk } from "../shop.ts";

const COUNT = 1_100;
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
const HEADERS = {
  authorization: "Bearer t",
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};
const HEAD = `POST /mcp HTTP/1.1\r\nhost: localhost\r\n${Object.entries(HEADERS)
  .map((header) => `${header.join(": ")}\r\n`)
  .join("")}`;

async function serve(options: HttpOptions = {}) {
  const gateway = createGateway({ domains: [], principal: clerk });
  const server = createMcpServer(gateway);
  const http = await serveHttp(server, { token: "t", drainMs: 0, ...options });
  const sockets = new Set<Socket>();
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await http.close();
    await server.close();
    await gateway.close();
  });
  return {
    sockets,
    list: async () => {
      const answer = await fetch(http.url, { method: "POST", headers: HEADERS, body: LIST });
      await answer.text();
      return answer.status;
    },
    /** Opens a connection that sends this and nothing more. */
    open: async (text: string) => {
      const socket = connect(Number(new URL(http.url).port), "127.0.0.1").on("error", () => {});
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      await once(socket, "connect").catch(() => {});
      socket.resume().write(text);
    },
  };
}

test.each([
  ["nothing", ""],
  ["half of their headers", "POST /mcp HTTP/1.1\r\nhost: local"],
  ["half of a body without a token", "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{"],
  ["half of a body with the token", `${HEAD}content-length: 99\r\n\r\n{`],
])("half-open: 1,100 connections that send %s do not keep a request out", async (_, text) => {
  const { list, open } = await serve();
  await Promise.all(Array.from({ length: COUNT }, () => open(text)));
  expect(await list()).toBe(200);
});

test("half-open: a webhook takes its signed body while others hold half of one", async () => {
  const { list, open, sockets } = await serve({ webhooks: { "/hook": { secret: "s", source: "none" } } });
  const half =
    "POST /hook HTTP/1.1\r\nhost: localhost\r\nx-hub-signature-256: a\r\ncontent-length: 9\r\n\r\n{";
  await Promise.all(Array.from({ length: 200 }, () => open(half)));
  await expect.poll(() => sockets.size).toBeLessThanOrEqual(64);
  expect(await list()).toBe(200);
});

test("half-open: beyond the limit the oldest gives way to the newest", () => {
  const ended: number[] = [];
  const unfinished = new Unfinished<number>(3, (oldest) => ended.push(oldest));
  for (const item of [1, 2, 3]) unfinished.add(item);
  unfinished.delete(2);
  unfinished.add(4);
  expect(ended).toEqual([]);
  unfinished.add(5);
  unfinished.add(6);
  expect(ended).toEqual([1, 3]);
  expect(unfinished.size).toBe(3);
});
