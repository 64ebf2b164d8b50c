import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../claims.ts";
import { ERAS } from "./connect.ts";

const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `Größe ${id}`, quote: '"so"\n' }));
const list = defineTool({ name: "list", description: "Lists many rows.", execute: () => rows });
const read = defineTool({
  name: "read",
  description: "Reads a long text.",
  execute: () => "Words of a long text, again and again. ".repeat(2_000),
});
const readSome = defineTool({
  name: "read_some",
  description: "Reads a text that fits the limits of the gateway.",
  execute: () => "Words of a text, again and again. ".repeat(400),
});
const PICTURE = Buffer.alloc(3_000, "a picture").toString("base64");
const draw = defineTool({
  name: "draw",
  description: "Draws a picture.",
  execute: () => ({ type: "image", mimeType: "image/png", data: PICTURE }),
});
const gateway = createGateway({
  domains: [defineDomain({ name: "lab", description: "For tests.", tools: [list, read, readSome, draw] })],
});
const server = createMcpServer(gateway, {});

afterAll(async () => {
  await server.close();
  await gateway.close();
});

/** The content of a result as a client of this name gets it. */
async function contentFor(name: string, era: (typeof ERAS)[number], routes: readonly string[]) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  server.connect(far);
  const mode = era === "2026-07-28" ? { pin: era } : ("legacy" as const);
  const client = new Client({ name, version: "1" }, { versionNegotiation: { mode } });
  await client.connect(near);
  const { content } = await client.callTool({
    name: "get",
    arguments: { routes: routes.map((route) => ({ route })) },
  });
  await client.close();
  return content;
}

/** The size of the whole result. */
async function sizeFor(name: string, era: (typeof ERAS)[number], routes: readonly string[]) {
  const content = await contentFor(name, era, routes);
  const text = content[0]?.type === "text" ? content[0].text : "";
  expect(text.match(/at result:\/\//g)).toHaveLength(routes.length);
  return Buffer.byteLength(JSON.stringify({ content }));
}

describe.each(ERAS)("on %s", (era) => {
  for (const [name, most] of [
    ["Cline", 8_000],
    ["@cline-core", 8_000],
    ["github-copilot-developer", 20_000],
    ["qwen-cli-mcp-client", 30_000],
    ["gemini-cli-mcp-client", 40_000],
    ["codex-mcp-client", 50_000],
    ["claude-code", 200_000],
  ] as const)
    verifies("mcp:client-limits", `an answer to ${name} is not cut at its ${most} characters`, async () => {
      for (const routes of [["lab.list"], ["lab.read"], Array.from({ length: 12 }, () => "lab.list")])
        expect(await sizeFor(name, era, routes)).toBeLessThanOrEqual(most);
    });

  for (const name of ["continue-cli-client", "@cline/core"])
    verifies("mcp:client-limits", `${name} hands a model no bytes of a picture to read as text`, async () => {
      const content = await contentFor(name, era, ["lab.draw"]);
      expect(JSON.stringify(content)).not.toContain(PICTURE.slice(0, 100));
      expect(content[0]).toMatchObject({ type: "text", text: expect.stringContaining("image/png") });
    });

  test("other clients get pictures as blocks", async () => {
    const content = await contentFor("claude-code", era, ["lab.draw"]);
    expect(content[1]).toMatchObject({ type: "image", data: PICTURE });
  });

  test("other clients get the limits of the gateway", async () => {
    const [shown] = await contentFor("inline-copilots", era, ["lab.read_some"]);
    expect(JSON.stringify(shown).length).toBeGreaterThan(12_000);
    const [cut] = await contentFor("Cline", era, ["lab.read_some"]);
    expect(JSON.stringify(cut).length).toBeLessThanOrEqual(8_000);
  });
});
