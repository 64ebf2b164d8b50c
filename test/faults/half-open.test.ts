import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createGateway } from "keyhole";
import { createMcpServer, type HttpOptions, serveHttp } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { createUnfinished } from "../../src/mcp/unfinished.ts";
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
  const { list, open, sockets } = await serve();
  await Promise.all(Array.from({ length: COUNT }, () => open(text)));
  expect(await list()).toBe(200);
  // After the grace of a second the oldest give way.
  await new Promise((done) => setTimeout(done, 1_100));
  await open(text);
  await expect.poll(() => sockets.size).toBeLessThanOrEqual(256);
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

test("half-open: the oldest give way: over the limit at once, over the usual number after the grace", () => {
  let time = 0;
  const ended: number[] = [];
  const unfinished = createUnfinished<number>({
    most: 2,
    limit: 4,
    graceMs: 10,
    now: () => time,
    end: (item) => ended.push(item),
  });
  for (const item of [1, 2, 3, 4]) unfinished.add(item);
  expect(ended).toEqual([]);
  unfinished.add(5);
  expect(ended).toEqual([1]);
  unfinished.delete(3);
  time = 11;
  unfinished.add(6);
  expect(ended).toEqual([1, 2, 4]);
  expect(unfinished.size).toBe(2);
});
