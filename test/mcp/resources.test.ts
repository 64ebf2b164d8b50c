import { createGateway, defineDomain, defineResource, type Source } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect } from "vitest";
import { BARE_ENTRY } from "../../src/core/nouns/bare-entry.ts";
import { verifies } from "../claims.ts";
import { auditor, clerk, createShop } from "../shop.ts";
import { connect, connectHttp, ERAS } from "./connect.ts";

const base = { ...BARE_ENTRY, domain: "notes" };

const notes: Source = {
  id: "notes",
  contents: async function* () {
    yield {
      domains: [{ name: "notes", description: "Notes.", scopes: [], rules: [] }],
      drafts: [
        {
          ...base,
          kind: "prompt",
          route: "notes://prompts/review",
          name: "review",
          description: "Reviews a text.",
          inputSchema: {
            type: "object",
            properties: {
              tone: { type: "string", enum: ["kind", "keen", "strict"] },
              depth: { type: "integer" },
            },
            required: ["tone"],
          },
          load: async ({ tone, depth }) => `Be ${tone}, depth ${typeof depth}.`,
        },
        {
          ...base,
          kind: "resource",
          route: "notes://resources/by-day",
          name: "By day",
          description: "The note of a day.",
          metadata: { uriTemplate: "note://day/{day}/text", mimeType: "text/markdown" },
          inputSchema: {
            type: "object",
            properties: { day: { type: "string", enum: ["monday", "sunday"] } },
          },
          load: async ({ day }) => `# ${day}`,
        },
        {
          ...base,
          kind: "resource",
          route: "notes://resources/secret",
          name: "Secret",
          description: "A secret note.",
          scopes: ["audit"],
          inputSchema: { type: "object" },
          load: async () => "secret",
        },
      ],
    };
  },
};

function serve(debounceMs = 5) {
  const gateway = createGateway({ domains: createShop().domains, sources: [notes], principal: clerk });
  return { gateway, server: createMcpServer(gateway, { listTtlMs: 0, debounceMs }) };
}

describe.each(ERAS)("a client of %s", (era) => {
  verifies("mcp:resources", "gets long lists in pages; a cursor is valid for its list only", async () => {
    const many = (count: number) => [
      defineDomain({
        name: "many",
        description: "Many pages.",
        resources: Array.from({ length: count }, (_, index) =>
          defineResource({
            route: `many://resources/${index}`,
            name: `Page ${index}`,
            description: "A page.",
            fetch: () => index,
          }),
        ),
      }),
    ];
    const gateway = createGateway({ domains: many(2_500) });
    const server = createMcpServer(gateway);
    const { client } = await connect(server, era);
    const list = (cursor?: string) =>
      client.request({ method: "resources/list", params: cursor === undefined ? {} : { cursor } });
    const first = await list();
    const second = await list(first.nextCursor);
    const third = await list(second.nextCursor);
    expect(third.nextCursor).toBeUndefined();
    const uris = [first, second, third].flatMap(({ resources }) => resources.map(({ uri }) => uri));
    expect([uris.length, new Set(uris).size]).toEqual([2_500, 2_500]);
    for (const cursor of ["", "garbage", Buffer.from("x:0").toString("base64url")]) {
      await expect(list(cursor)).rejects.toThrow(/cursor/);
    }
    await gateway.setDomains(many(2_501));
    await expect(list(first.nextCursor)).rejects.toThrow(/cursor/);
    await server.close();
  });

  verifies("mcp:resources", "lists and reads only the documents that it may see", async () => {
    const { server } = serve();
    const { client } = await connectHttp(server, era);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["shop://resources/manual"]);
    const { contents } = await client.readResource({ uri: "shop://resources/manual" });
    expect(contents).toEqual([
      { uri: "shop://resources/manual", mimeType: "text/plain", text: "Press the green button." },
    ]);
    for (const uri of ["notes://resources/secret", "shop://tools/order/list", "nothing://here"]) {
      await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
    }
    const allowed = await connectHttp(server, era, { principal: auditor });
    const read = await allowed.client.readResource({ uri: "notes://resources/secret" });
    expect(read.contents).toMatchObject([{ text: "secret" }]);
    await server.close();
  });

  verifies("mcp:resources", "lists, reads and completes templates", async () => {
    const { server } = serve();
    const { client } = await connect(server, era);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: "note://day/{day}/text", name: "By day" }]);
    const { contents } = await client.readResource({ uri: "note://day/monday/text" });
    expect(contents).toMatchObject([{ mimeType: "text/markdown", text: "# monday" }]);
    await expect(client.readResource({ uri: "note://day/monday/other" })).rejects.toThrow(/not found/i);
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "note://day/{day}/text" },
      argument: { name: "day", value: "s" },
    });
    expect(completion.values).toEqual(["sunday"]);
    await server.close();
  });

  verifies("mcp:resources", "lists, fills in and completes prompts", async () => {
    const { server } = serve();
    const { client } = await connect(server, era);
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([{ name: "review", arguments: [{ name: "tone", required: true }, {}] }]);
    const { messages } = await client.getPrompt({ name: "review", arguments: { tone: "kind", depth: "3" } });
    expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Be kind, depth number." } }]);
    await expect(client.getPrompt({ name: "review", arguments: { tone: "x" } })).rejects.toThrow(/schema/);
    await expect(client.getPrompt({ name: "none" })).rejects.toThrow(/Unknown prompt/);
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "review" },
      argument: { name: "tone", value: "K" },
    });
    expect(completion.values).toEqual(["kind", "keen"]);
    await server.close();
  });

  verifies(
    "mcp:changes",
    "gets one notice for many changes, and one for tools only if they differ",
    async () => {
      // A busy machine takes longer between two changes.
      const debounceMs = 200;
      const { server, gateway } = serve(debounceMs);
      const heard: string[] = [];
      const onChanged = (kind: string) => ({
        autoRefresh: false,
        debounceMs: 0,
        onChanged: () => void heard.push(kind),
      });
      const { client } = await connect(server, era, {
        listChanged: { tools: onChanged("tools"), resources: onChanged("resources") },
      });
      await client.listTools();
      const { domains } = createShop();
      const withPage = (text: string) =>
        domains.map((domain) =>
          domain.name === "shop"
            ? { ...domain, resources: [...(domain.resources ?? []), page(text)] }
            : domain,
        );
      for (const text of ["one", "two", "three"]) await gateway.setDomains(withPage(text));
      await until(() => heard.includes("resources"));
      await new Promise((resolve) => setTimeout(resolve, 2 * debounceMs));
      // The menu counts the entries of the domain, so the first change shows in the tools.
      expect(heard.sort()).toEqual(["resources", "tools"]);

      heard.length = 0;
      await gateway.setDomains(withPage("four"));
      await until(() => heard.length > 0);
      await new Promise((resolve) => setTimeout(resolve, 2 * debounceMs));
      expect(heard).toEqual(["resources"]);

      heard.length = 0;
      await gateway.setDomains([
        ...withPage("four"),
        defineDomain({ name: "other", description: "Other.", resources: [page("x", "other")] }),
      ]);
      await until(() => heard.length === 2);
      expect(heard.sort()).toEqual(["resources", "tools"]);
      await server.close();
    },
  );
});

function page(text: string, domain = "shop") {
  return defineResource({
    route: `${domain}://resources/page`,
    name: "Page",
    description: `A page: ${text}.`,
    fetch: () => text,
  });
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 5_000;
  while (!holds() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
}
