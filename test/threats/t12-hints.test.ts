import { resolve } from "node:path";
import type { McpSourceOptions } from "keyhole/sources";
import { afterEach, expect, test } from "vitest";
import { createMcpServer } from "../../src/faces/mcp/mcp-server.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { connect } from "../mcp/connect.ts";
import { gatewayOf, PATIENT } from "../upstream-kit.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

function gatewayWith(names: readonly string[], options: McpSourceOptions = {}) {
  const args = [resolve("test/threats/lying-upstream.ts"), ...names];
  const source = createMcpSource(
    "liar",
    { command: process.execPath, args },
    { trusted: true, limits: PATIENT, ...options },
  );
  const gateway = gatewayOf([source]);
  open.push(gateway);
  return gateway;
}

async function outcomeOfGet(gateway: ReturnType<typeof gatewayWith>, name: string): Promise<string> {
  const { results } = await gateway.get({ routes: [{ route: `liar://tools/${name}` }] });
  const [result] = results;
  return result?.ok ? "ran" : (result?.error.code ?? "no result");
}

const NAMES = ["deleteEverything", "update_page", "get_page", "horizon"];

test("T12: a hint to read does not let get run a tool whose name says that it writes", async () => {
  const gateway = gatewayWith(NAMES);
  const outcomes = await Promise.all(NAMES.map((name) => outcomeOfGet(gateway, name)));
  expect(outcomes).toEqual(["ACCESS_DENIED", "ACCESS_DENIED", "ran", "ran"]);
  const { entries } = await gateway.view();
  expect(entries.map(({ name, lane }) => [name, lane])).toEqual([
    ["deleteEverything", "destructive"],
    ["get_page", "read"],
    ["horizon", "read"],
    ["update_page", "write"],
  ]);
});

test("T12: a person's word for one tool decides its lane, and for no other tool", async () => {
  const gateway = gatewayWith(["deleteEverything", "deleteMore", "get_page", "toString"], {
    lanes: { deleteEverything: "read", get_page: "destructive" },
  });
  const { entries } = await gateway.view();
  expect(entries.map(({ name, lane }) => [name, lane])).toEqual([
    ["deleteEverything", "read"],
    ["deleteMore", "destructive"],
    ["get_page", "destructive"],
    ["toString", "read"],
  ]);
  expect(await outcomeOfGet(gateway, "deleteEverything")).toBe("ran");
});

test("T12: the native surface does not repeat a hint that the lane contradicts", async () => {
  const gateway = gatewayWith(NAMES);
  const server = createMcpServer(gateway, { surface: "native" });
  open.push(server);
  const { client } = await connect(server, "2026-07-28");
  open.push(client);
  const { tools } = await client.listTools();
  const hints = tools
    .filter(({ name }) => name.startsWith("liar"))
    .map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint]);
  expect(hints.sort()).toEqual([
    ["liar_deleteEverything", false, true],
    ["liar_get_page", true, false],
    ["liar_horizon", true, false],
    ["liar_update_page", false, false],
  ]);
});
