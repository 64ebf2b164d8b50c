import { InMemoryTransport } from "@modelcontextprotocol/client";
import type { ServerEvent } from "@modelcontextprotocol/server";
import { createGateway, defineDomain, type Gateway, type GatewayOptions } from "keyhole";
import { createMcpServer, type McpServerOptions } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { BARE_ENTRY } from "../../src/core/nouns/bare-entry.ts";
import type { EntryDraft } from "../../src/core/nouns/entry.ts";
import type { SourceContent } from "../../src/core/nouns/source.ts";
import { followChanges } from "../../src/faces/mcp/changes.ts";
import { createListings } from "../../src/faces/mcp/listing.ts";
import { faceApiOf } from "../../src/gateway/face-api.ts";
import { eventually } from "../upstream-kit.ts";
import { connect } from "./connect.ts";

const STARTING = { state: "starting", reason: "it is still starting" } as const;

/** A server that is starting until the test fills it. */
function slowSource() {
  const filled = Promise.withResolvers<void>();
  const domain = { name: "files", description: "", scopes: [], rules: [] };
  const draft = { ...BARE_ENTRY, domain: "files", aliases: [], description: "Reads a file." };
  const load = async () => "";
  const route = "files://resources/server";
  const standIn: EntryDraft = {
    ...draft,
    kind: "resource",
    name: "files server",
    route,
    status: STARTING,
    load,
  };
  const tool: EntryDraft = {
    ...draft,
    kind: "tool",
    name: "read_file",
    requiresConfirmation: false,
    extraction: null,
    lane: "read",
    call: load,
  };
  return {
    fill: filled.resolve,
    source: {
      id: "files",
      contents: async function* (signal: AbortSignal): AsyncGenerator<SourceContent> {
        yield { domains: [domain], drafts: [standIn] };
        await filled.promise;
        yield { domains: [domain], drafts: [tool] };
        await new Promise((ended) => signal.addEventListener("abort", ended));
      },
    },
  };
}

function open(options: Partial<GatewayOptions>, serving: McpServerOptions = {}) {
  const gateway = createGateway({ domains: [], ...options });
  const server = createMcpServer(gateway, { debounceMs: 1, ...serving });
  onTestFinished(async () => {
    await server.close();
    await gateway.close();
  });
  return { gateway, server };
}

async function untilFilled(gateway: Gateway): Promise<void> {
  await eventually(async () => expect((await gateway.view()).starting.size).toBe(0));
}

function changeDomains(gateway: Gateway, name: string): Promise<void> {
  const tool = { name: `read_${name}`, description: "Reads.", execute: () => "" };
  return gateway.setDomains([defineDomain({ name, description: name, tools: [tool] })]);
}

const CHANGED = "notifications/tools/list_changed";
const heardIn = (received: readonly string[]) => received.filter((line) => line.includes(CHANGED)).length;

test("the first fill is not announced, a later change is", async () => {
  const { source, fill } = slowSource();
  const { gateway, server } = open({ sources: [source] });
  const { client, received } = await connect(server, "2025-11-25");
  const { tools } = await client.listTools();
  expect(JSON.stringify(tools)).toContain("files");
  fill();
  await untilFilled(gateway);
  await changeDomains(gateway, "office");
  await eventually(() => expect(heardIn(received)).toBe(1));
  expect((await client.listResources()).resources).toEqual([]);
});

test("tools that the first fill adds to the list are announced", async () => {
  const { source, fill } = slowSource();
  const { server } = open({ sources: [source] }, { surface: "native" });
  const { client, received } = await connect(server, "2025-11-25");
  expect((await client.listTools()).tools).toEqual([]);
  fill();
  await eventually(() => expect(heardIn(received)).toBe(1));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["files_file_read"]);
});

test("a server that begins to start while the lists of a client are made is announced", async () => {
  const { source, fill } = slowSource();
  const { gateway } = open({ domains: [] });
  await gateway.ready();
  const listings = createListings(gateway, {});
  const changes: (readonly ServerEvent[])[] = [];
  let isFirst = true;
  const slowly: typeof listings.for = async (principal) => {
    const made = await listings.for(principal);
    if (!isFirst) return made;
    isFirst = false;
    void gateway.sources.set([source]);
    await eventually(async () => expect((await faceApiOf(gateway).view("usable")).starting.size).toBe(1));
    return made;
  };
  const failures: Error[] = [];
  const onError = (error: Error) => failures.push(error);
  const notices = followChanges({ gateway, listings: { for: slowly }, debounceMs: 50, onError });
  onTestFinished(() => notices.close());
  notices.add({ principal: () => undefined, onChange: (change) => changes.push(change) });
  await eventually(() => expect(changes.map(([first]) => first?.kind)).toEqual(["tools_list_changed"]));
  expect(failures).toEqual([]);
  fill();
});

test("no change is announced before the client says that it is initialized", async () => {
  const { gateway, server } = open({});
  const [near, far] = InMemoryTransport.createLinkedPair();
  const received: string[] = [];
  near.onmessage = (message) => received.push(JSON.stringify(message));
  server.connect(far);
  await near.start();
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  await near.send({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  await eventually(() => expect(received.join()).toContain("serverInfo"));
  await changeDomains(gateway, "office");
  await near.send({ jsonrpc: "2.0", id: 2, method: "ping" });
  await eventually(() => expect(received.join()).toContain('"id":2'));
  expect(heardIn(received)).toBe(0);
  await near.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await near.send({ jsonrpc: "2.0", id: 3, method: "tools/list" });
  await eventually(() => expect(received.join()).toContain('"id":3'));
  expect(heardIn(received)).toBe(0);
  await changeDomains(gateway, "garden");
  await eventually(() => expect(heardIn(received)).toBe(1));
});
