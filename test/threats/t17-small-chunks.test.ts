import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { heapMegabytes } from "../../bench/heap-megabytes.ts";
import { readBytes as readResponse } from "../../src/base/net/read-response.ts";
import { readBytes as readRequest } from "../../src/faces/mcp/http-messages.ts";
import { createLineSplitter } from "../../src/program/daemon/lines.ts";
import { createLineReader } from "../../src/sources/mcp/line-reader.ts";

const COUNT = 100_000;
const WHOLE = "1".repeat(COUNT);
/** Chunks that are kept apart take 10 megabytes and more. */
const MOST_MEGABYTES = 5;

async function heldBy(work: () => unknown): Promise<number> {
  const before = await heapMegabytes();
  await work();
  return (await heapMegabytes()) - before;
}

test.each([
  ["lines of servers", () => createLineReader(COUNT)],
  ["lines of clients of the daemon", () => createLineSplitter()],
])("T17: %s that arrive byte by byte take little more memory than their bytes", async (_name, create) => {
  const read = create();
  const held = await heldBy(() => {
    for (let count = 0; count < COUNT; count += 1) read(Buffer.from("1"));
  });
  expect(held).toBeLessThan(MOST_MEGABYTES);
  expect(String(read(Buffer.from("\n"))![0]).trimEnd()).toBe(WHOLE);
});

test("T17: a request in chunks of one byte takes little more memory than its bytes", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
  const [request] = (await once(server, "request")) as [IncomingMessage];
  const body = readRequest(request, COUNT);
  const arrived = Promise.withResolvers<void>();
  let count = 0;
  request.on("data", () => {
    count += 1;
    if (count === COUNT) arrived.resolve();
  });
  const held = await heldBy(() => {
    socket.write("1\r\n1\r\n".repeat(COUNT));
    return arrived.promise;
  });
  expect(held).toBeLessThan(MOST_MEGABYTES);
  socket.write("0\r\n\r\n");
  expect(String(await body)).toBe(WHOLE);
});

test("T17: an answer in chunks of one byte takes little more memory than its bytes", async () => {
  const read = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  async function* chunks() {
    for (let count = 0; count < COUNT; count += 1) yield Buffer.from("1");
    read.resolve();
    await end.promise;
  }
  const body = readResponse(new Response(ReadableStream.from(chunks())), "it", COUNT);
  expect(await heldBy(() => read.promise)).toBeLessThan(MOST_MEGABYTES);
  end.resolve();
  expect(String(await body)).toBe(WHOLE);
});
