import { resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createMcpServer } from "keyhole/mcp";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { eventually, gatewayOf } from "../upstream-kit.ts";
import { type Connected, connect, connectHttp, ERAS } from "./connect.ts";
import { logsOfCall } from "./surface-calls.ts";

const UPSTREAM = { command: process.execPath, args: [resolve("test/rich-upstream.ts")] };

const gateway = gatewayOf([createMcpSource("rich", UPSTREAM, { trusted: true })]);
const server = createMcpServer(gateway, { surface: "native", nativeNames: "names" });

afterAll(async () => {
  await server.close();
  await gateway.close();
});

describe.each(ERAS)("a client of %s", (era) => {
  const mode = era === "2026-07-28" ? { pin: era } : ("legacy" as const);
  const direct = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });

  beforeAll(async () => {
    await direct.connect(new StdioClientTransport(UPSTREAM));
    await eventually(async () => expect((await gateway.view()).entries).toHaveLength(12), 30_000);
  });
  afterAll(() => direct.close());

  describe.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("over %s", (_, open) => {
    async function withClient(use: (client: Client, connected: Connected) => Promise<void>): Promise<void> {
      const connected = await open(server, era);
      await use(connected.client, connected);
      await connected.client.close();
    }

    verifies("mcp:fidelity", "sees the lists of the server unchanged", () =>
      withClient(async (client) => {
        const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
        const [theirs, ours] = [await direct.listTools(), await client.listTools()];
        const titled = theirs.tools.map((tool) => ({ title: tool.name, ...tool }));
        expect(ours.tools.toSorted(byName)).toEqual(titled.toSorted(byName));
        // The view of an app, which a client draws beside the answer.
        expect(ours.tools.find(({ name }) => name === "every_kind")?._meta).toHaveProperty("ui");
        expect((await client.listPrompts()).prompts).toEqual((await direct.listPrompts()).prompts);
        expect((await client.listResources()).resources).toEqual((await direct.listResources()).resources);
        expect((await client.listResourceTemplates()).resourceTemplates).toEqual(
          (await direct.listResourceTemplates()).resourceTemplates,
        );
      }),
    );

    verifies("mcp:fidelity", "sees the answers of the server unchanged, failures too", () =>
      withClient(async (client) => {
        const through = async (name: string) => result(await client.callTool({ name, arguments: {} }));
        const directly = async (name: string) => result(await direct.callTool({ name, arguments: {} }));
        expect(await through("every_kind")).toEqual(await directly("every_kind"));
        expect(await through("every_kind")).toHaveProperty("_meta", { "example.com/cost": { cents: 3 } });
        expect(await through("fail")).toEqual(await directly("fail"));
        const asked = { name: "review", arguments: { what: "this" } };
        expect(result(await client.getPrompt(asked))).toEqual(result(await direct.getPrompt(asked)));
        for (const uri of ["rich://notes/1", "rich://by-id/7", "ui://rich/panel"]) {
          expect(result(await client.readResource({ uri }))).toEqual(
            result(await direct.readResource({ uri })),
          );
        }
      }),
    );

    verifies("mcp:fidelity", "sees protocol errors with their code and data", () =>
      withClient(async (client) => {
        const failing = { name: "broken", arguments: {} };
        const [theirs, ours] = await Promise.all(
          [direct, client].map((asked) => asked.callTool(failing).catch((error: unknown) => error)),
        );
        expect(ours).toMatchObject({ code: -32_077, message: "Out of paper", data: { tray: 2 } });
        expect(ours).toEqual(theirs);
      }),
    );

    verifies("mcp:fidelity", "hears the logs of its own calls, from the level it wants", () =>
      withClient(async (client) => {
        const heard = await logsOfCall(client, era, { name: "say", arguments: {} }, "warning");
        expect(heard).toEqual([{ level: "warning", logger: "rich", data: { said: ["this"] } }]);
      }),
    );

    verifies("mcp:fidelity", "hears progress, and its cancellation reaches the server", () =>
      withClient(async (client) => {
        const told: unknown[] = [];
        await client.callTool(
          { name: "steps", arguments: {} },
          { onprogress: (update) => told.push(update) },
        );
        expect(told).toEqual(
          [1, 2, 3].map((progress) => ({ progress, total: 3, message: `Step ${progress}` })),
        );

        const count = async () => {
          const { content } = await client.callTool({ name: "cancelled", arguments: {} });
          return Number((content[0] as { text: string }).text);
        };
        const before = await count();
        const giveUp = new AbortController();
        const waiting = client.callTool({ name: "wait", arguments: {} }, { signal: giveUp.signal });
        setTimeout(() => giveUp.abort(), 100);
        await expect(waiting).rejects.toThrow();
        await eventually(async () => expect(await count()).toBe(before + 1));
      }),
    );
  });
});

/** Removes what servers of the newer protocol add to every result: their name and how long it is valid. */
function result({ _meta, resultType: _, ttlMs: __, cacheScope: ___, ...rest }: Record<string, unknown>) {
  const own = Object.entries(_meta ?? {}).filter(([key]) => !key.startsWith("io.modelcontextprotocol/"));
  return { ...rest, ...(own.length > 0 && { _meta: Object.fromEntries(own) }) };
}
