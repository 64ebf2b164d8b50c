// One test that loads the dialler itself: mutation tests then run it against what the module makes at its load.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";

const PACKED = { gzip: gzipSync, "x-gzip": gzipSync, deflate: deflateSync, br: brotliCompressSync };

test("a dialler says who it is, unpacks what it asks for, and repeats reads alone", async () => {
  const { createDialler } = await import("./dialler.ts");
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const dialler = createDialler(() => {});
  onTestFinished(() => {
    dialler.close();
    server.close();
  });

  const text = JSON.stringify("x".repeat(65_000));
  answer = ({ headers }, response) => {
    const told = [headers.accept, headers["accept-encoding"], headers["user-agent"]];
    response.writeHead(200, { "x-told": told.join("; "), "content-type": "application/json" }).end(text);
  };
  const { headers } = await dialler.send(url, {});
  expect(headers.get("x-told")).toBe("*/*; gzip, deflate, br; keyhole");
  // It was read whole.
  expect(headers.get("content-length")).toBe(String(text.length));

  for (const [encoding, pack] of Object.entries(PACKED)) {
    answer = (_, response) => response.writeHead(200, { "content-encoding": encoding }).end(pack(text));
    expect(await (await dialler.send(url, {})).text()).toBe(text);
  }

  for (const status of [204, 205, 304]) {
    answer = (_, response) => response.writeHead(status).end();
    expect((await dialler.send(url, {})).body).toBe(null);
  }

  const sent: unknown[] = [];
  const used = new WeakSet<object>();
  answer = ({ method, socket }, response) => {
    sent.push(method);
    if (used.has(socket)) return void socket.destroy();
    used.add(socket);
    response.writeHead(200, { "content-length": 0 }).end();
  };
  const send = async (method: string) => (await dialler.send(url, { method })).text();
  await send("GET");
  for (const method of ["GET", "HEAD"]) await send(method);
  await expect(send("PUT")).rejects.toThrow();
  expect(sent).toEqual(["GET", "GET", "GET", "HEAD", "HEAD", "PUT"]);
});
