import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { createLineTransport } from "../../src/faces/mcp/line-transport.ts";
import { createMcpServer } from "../../src/faces/mcp/mcp-server.ts";
import { createShopGateway } from "../run-kit.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "a", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const request = (method: unknown, more: object = {}) => ({ jsonrpc: "2.0", id: 7, method, ...more });

/** Messages that are no requests of the protocol, with the code of their error. */
const SHAPES: Record<string, readonly [unknown, number]> = {
  "no method": [{ jsonrpc: "2.0", id: 7 }, -32600],
  "no version": [{ id: 7, method: "ping" }, -32600],
  "another version": [{ jsonrpc: "1.0", id: 7, method: "ping" }, -32600],
  "a number as method": [request(5), -32600],
  "null as method": [request(null), -32600],
  "an object as method": [request({}), -32600],
  "a text as params": [request("tools/list", { params: "x" }), -32602],
  "a list as params": [request("tools/list", { params: [] }), -32602],
  "a number as params": [request("tools/call", { params: 5 }), -32602],
  "null as params": [request("tools/call", { params: null }), -32602],
  "a text as _meta": [request("tools/list", { params: { _meta: "x" } }), -32602],
  "a result and a method": [request("ping", { result: {} }), -32600],
  "an error and a method": [request("ping", { error: { code: 1, message: "x" } }), -32600],
  "another field": [request("ping", { extra: 1 }), -32600],
  "a batch": [[request("ping")], -32600],
};

/** Requests whose params lack something, with what their error names. */
const PARAMS: Record<string, readonly [string, object | undefined, string]> = {
  "a call without params": ["tools/call", undefined, "params.name"],
  "a call without a name": ["tools/call", { arguments: {} }, "params.name"],
  "a call of a number": ["tools/call", { name: 5 }, "params.name"],
  "a call with a list": ["tools/call", { name: "ask", arguments: [] }, "params.arguments"],
  "a prompt without params": ["prompts/get", undefined, "params.name"],
  "a resource without params": ["resources/read", undefined, "params.uri"],
  "a completion without params": ["completion/complete", undefined, "params.ref"],
  "a cursor that is a number": ["tools/list", { cursor: 5 }, "params.cursor"],
};

/** A connection over stdio. Sends a message and returns the answer. */
async function connect(isLegacy: boolean) {
  const { gateway } = createShopGateway();
  const server = createMcpServer(gateway);
  const [input, output] = [new PassThrough(), new PassThrough()];
  server.connect(createLineTransport(input, output));
  onTestFinished(async () => {
    await server.close();
    await gateway.close();
  });
  const lines = output[Symbol.asyncIterator]();
  const send = async (message: unknown) => {
    input.write(`${JSON.stringify(message)}\n`);
    return JSON.parse(String((await lines.next()).value));
  };
  if (isLegacy) {
    const clientInfo = { name: "a", version: "1" };
    await send(
      request("initialize", { params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } }),
    );
    input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }
  return { server, send };
}

const REVISIONS = [
  ["2025-06-18", true],
  ["2026-07-28", false],
] as const;

test.each(
  REVISIONS.flatMap(([name, isLegacy]) =>
    Object.keys(SHAPES).map((shape) => [shape, name, isLegacy] as const),
  ),
)(
  "malformed-client: a message with an id and %s is answered with an error over stdio, before and after %s",
  async (shape, _, isLegacy) => {
    const { send } = await connect(isLegacy);
    const [message, code] = SHAPES[shape]!;
    expect(await send(message)).toMatchObject({
      id: 7,
      error: { code, message: expect.stringMatching(/\.$/) },
    });
    // The connection lives on.
    expect(
      await send({ jsonrpc: "2.0", id: 8, method: "ping", ...(!isLegacy && { params: { _meta: META } }) }),
    ).toMatchObject({ id: 8 });
  },
);

test.each([null, 1.5, {}, true, [1]])(
  "malformed-client: a request with the id %j is answered with an error",
  async (id) => {
    const { send } = await connect(true);
    expect(await send({ jsonrpc: "2.0", id, method: "ping" })).toMatchObject({
      id: null,
      error: { code: -32600 },
    });
  },
);

test.each(Object.keys(PARAMS))(
  "malformed-client: %s is answered with -32602 and a sentence, over stdio and HTTP",
  async (name) => {
    const [method, params, says] = PARAMS[name]!;
    const error = { code: -32602, message: expect.stringMatching(new RegExp(`${says}.*\\.$`)) };
    for (const [, isLegacy] of REVISIONS) {
      const { send, server } = await connect(isLegacy);
      const given = isLegacy ? params : { ...params, _meta: META };
      const message = request(method, given && { params: given });
      expect(await send(message)).toMatchObject({ id: 7, error });
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(!isLegacy && { "mcp-protocol-version": "2026-07-28", "mcp-method": method }),
      };
      const body = JSON.stringify(message);
      const answer = await server.fetch(
        new Request("http://localhost/mcp", { method: "POST", body, headers }),
      );
      expect(await answer.json()).toMatchObject({ id: 7, error });
    }
  },
);
