import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { heapMegabytes } from "../../../bench/heap-megabytes.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createLineSplitter } from "./lines.ts";
import { relay } from "./relay.ts";

interface Peer {
  read(): Promise<Record<string, unknown>>;
  say(message: unknown): void;
}

/** A client, and one daemon after another, whose messages the test reads and writes. */
async function set() {
  const path = join(temporaryFolder(), "socket");
  const server = createServer().listen(path);
  await once(server, "listening");
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = relay({
    input,
    output,
    reach: async () => {
      const socket = connect(path);
      await once(socket, "connect");
      return socket;
    },
  });
  ended.catch(() => {});
  onTestFinished(async () => {
    input.end();
    server.close();
  });
  const nextDaemon = async (): Promise<Peer & { socket: Socket }> => {
    const [socket] = (await once(server, "connection")) as [Socket];
    socket.on("error", () => {});
    return { socket, ...peer(createInterface({ input: socket }), (line) => socket.write(line)) };
  };
  const client = peer(createInterface({ input: output }), (line) => input.write(line));
  return { client, nextDaemon, ended, first: await nextDaemon() };
}

function peer(lines: Interface, write: (line: string) => void): Peer {
  const iterator = lines[Symbol.asyncIterator]();
  return {
    read: async () => JSON.parse((await iterator.next()).value ?? ""),
    say: (message) => write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
  };
}

const request = (id: number, method: string, params = {}) => ({ jsonrpc: "2.0", id, method, params });

test("messages pass in both directions", async () => {
  const { client, first } = await set();
  client.say(request(1, "tools/list"));
  expect(await first.read()).toEqual(request(1, "tools/list"));
  first.say({ jsonrpc: "2.0", id: 1, result: { tools: [] } });
  expect(await client.read()).toEqual({ jsonrpc: "2.0", id: 1, result: { tools: [] } });
});

test.each([{ jsonrpc: "2.0", id: 7 }, { id: 7 }, { jsonrpc: "2.0", id: 7, params: {} }])(
  "malformed-client: %j reaches the daemon, whose error answers it",
  async (message) => {
    const { client, first } = await set();
    client.say(message);
    expect(await first.read()).toEqual(message);
    first.say({ jsonrpc: "2.0", id: 7, error: { code: -32600, message: "x" } });
    expect(await client.read()).toMatchObject({ id: 7, error: { code: -32600 } });
  },
);

test("the next daemon is told how the session began, and requests without effect are sent again", async () => {
  const { client, first, nextDaemon } = await set();
  client.say(request(1, "initialize", { protocolVersion: "2025-06-18" }));
  await first.read();
  first.say({ jsonrpc: "2.0", id: 1, result: {} });
  await client.read();
  client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
  client.say(request(2, "resources/subscribe", { uri: "a://b" }));
  client.say(request(3, "resources/subscribe", { uri: "a://c" }));
  client.say(request(4, "resources/unsubscribe", { uri: "a://c" }));
  for (let count = 0; count < 4; count++) await first.read();
  for (const id of [2, 3, 4]) first.say({ jsonrpc: "2.0", id, result: {} });
  for (let count = 0; count < 3; count++) await client.read();
  client.say(request(5, "tools/call", { name: "exec" }));
  client.say(request(6, "tools/list"));
  await first.read();
  await first.read();
  const next = nextDaemon();
  first.socket.destroy();
  // The call may have had its effect, so it is not repeated.
  expect(await client.read()).toMatchObject({ id: 5, result: { isError: true } });
  const second = await next;
  const again = [await second.read(), await second.read(), await second.read(), await second.read()];
  expect(again.map(({ method }) => method)).toEqual([
    "initialize",
    "notifications/initialized",
    "resources/subscribe",
    "tools/list",
  ]);
  second.say({ jsonrpc: "2.0", id: again[0]!.id, result: {} });
  second.say({ jsonrpc: "2.0", id: again[2]!.id, result: {} });
  second.say({ jsonrpc: "2.0", id: 6, result: { tools: [] } });
  // Answers to the messages of the relay do not reach the client.
  expect(await client.read()).toMatchObject({ id: 6 });
});

test("after a hand-over, calls that were not begun are sent again", async () => {
  const { client, first, nextDaemon } = await set();
  client.say(request(1, "tools/call", { name: "exec" }));
  await first.read();
  const next = nextDaemon();
  first.socket.end("moved\n");
  const second = await next;
  expect(await second.read()).toMatchObject({ id: 1, method: "tools/call" });
});

test("a stopped daemon is followed by the next one when the client asks for something", async () => {
  const { client, first, nextDaemon } = await set();
  const next = nextDaemon();
  first.socket.end("stopped\n");
  await once(first.socket, "close");
  client.say(request(1, "ping"));
  expect(await (await next).read()).toMatchObject({ method: "ping" });
});

test("the answer to a question of an ended daemon never reaches a question of the next one", async () => {
  const { client, first, nextDaemon } = await set();
  first.say(request(0, "elicitation/create", { message: "delete all?" }));
  const asked = await client.read();
  const next = nextDaemon();
  first.socket.destroy();
  const second = await next;
  second.say(request(0, "elicitation/create", { message: "list all?" }));
  const askedAgain = await client.read();
  expect(askedAgain.id).not.toBe(asked.id);
  client.say({ jsonrpc: "2.0", id: asked.id, result: { action: "accept" } });
  client.say({ jsonrpc: "2.0", id: askedAgain.id, result: { action: "decline" } });
  expect(await second.read()).toEqual({ jsonrpc: "2.0", id: 0, result: { action: "decline" } });
});

test("the end of a question has the number that the client knows", async () => {
  const { client, first } = await set();
  first.say(request(0, "ping"));
  await client.read();
  first.say(request(7, "elicitation/create", { message: "sure?" }));
  const { id } = await client.read();
  first.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
  expect(await client.read()).toMatchObject({ params: { requestId: id } });
});

test("a daemon that keeps ending is given up", async () => {
  const { first, nextDaemon, ended } = await set();
  let { socket } = first;
  for (let count = 0; count < 4; count++) {
    const next = nextDaemon();
    socket.destroy();
    ({ socket } = await next);
  }
  socket.destroy();
  await expect(ended).rejects.toMatchObject({ code: "DAEMON_FAILED" });
});

test("a request whose number looks like one of the relay's own is answered", async () => {
  const { client, first } = await set();
  const asked = { jsonrpc: "2.0", id: "keyhole-relay-1", method: "tools/list" };
  client.say(asked);
  expect(await first.read()).toEqual(asked);
  const answer = { jsonrpc: "2.0", id: "keyhole-relay-1", result: { tools: [] } };
  first.say(answer);
  expect(await client.read()).toEqual(answer);
});

const MIB = 2 ** 20;

test.each([
  ["first", (params: object) => ({ jsonrpc: "2.0", id: 5, method: "tools/call", params })],
  ["last", (params: object) => ({ method: "tools/call", params, jsonrpc: "2.0", id: 5 })],
])("T17: a message that is too large is refused by its id, which stands %s", async (_place, message) => {
  const { client, first } = await set();
  client.say(message({ id: 6, text: `"id":7,${"x".repeat(11 * MIB)}` }));
  expect(await client.read()).toMatchObject({ id: 5, error: { message: expect.stringContaining("larger") } });
  client.say(request(8, "ping"));
  expect(await first.read()).toMatchObject({ id: 8 });
});

test("T17: a large notification is dropped, and large text that is no message is answered without an id", async () => {
  const { client, first } = await set();
  client.say({ jsonrpc: "2.0", method: "notifications/progress", params: { text: "x".repeat(11 * MIB) } });
  client.say("x".repeat(11 * MIB));
  expect(await client.read()).toMatchObject({
    id: null,
    error: { message: expect.stringContaining("larger") },
  });
  client.say(request(8, "ping"));
  expect(await first.read()).toMatchObject({ id: 8 });
});

test("T17: a client whose line never ends takes no more memory than the longest line", async () => {
  const split = createLineSplitter({ bytes: MIB, refuse: () => {} });
  const before = await heapMegabytes();
  for (let count = 0; count < 64; count += 1) expect(split(Buffer.alloc(MIB, "x"))).toEqual([]);
  expect((await heapMegabytes()) - before).toBeLessThan(8);
  expect(split(Buffer.from("\nnext\n")).map(String)).toEqual(["next\n"]);
});
