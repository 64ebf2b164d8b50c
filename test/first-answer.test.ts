import { createGateway, defineDomain, defineTool } from "keyhole";
import { createEmbeddedIndex, createStaticEmbedder } from "keyhole/search";
import { expect, onTestFinished, test } from "vitest";
import { createCorpus } from "../bench/corpus.ts";
import { verifies } from "./claims.ts";
import { openProgram } from "./threats/program.ts";

/** The most entries whose vectors a first answer waits for. */
const MOST = 5_000;
/** By words, by meaning, in another language, and several needs at once. */
const QUERIES = [
  "send a letter to a customer",
  "let my colleagues know about the delay",
  "eine Rechnung bezahlen",
  "查询天气",
  "book a table. Then pay the bill and tell my wife.",
];

const corpus = createCorpus();

/** Tools of three domains, among them some that only their meaning finds. */
function domainsOf(count: number) {
  const tools = Array.from({ length: count - 3 }, (_, number) => {
    const { name, description } = corpus.at(number);
    return defineTool({ name: `${name}_${number}`, description, execute: () => name });
  });
  const meant = [
    ["notify_team", "Posts a message to the channel of a team."],
    ["settle_invoice", "Pays an open invoice."],
    ["forecast", "Tells the weather of the next days."],
  ].map(([name, description]) => defineTool({ name: name!, description: description!, execute: () => name }));
  const third = Math.floor(count / 3);
  return [
    defineDomain({ name: "north", description: "North.", tools: tools.slice(0, third) }),
    defineDomain({ name: "south", description: "South.", tools: tools.slice(third) }),
    defineDomain({ name: "office", description: "An office.", tools: meant }),
  ];
}

function gatewayOf(count: number, index = createEmbeddedIndex({ embedder: createStaticEmbedder() })) {
  const gateway = createGateway({ domains: domainsOf(count), index, learning: false });
  onTestFinished(() => gateway.close());
  return gateway;
}

verifies("search:first-is-final", "of a gateway, up to the largest catalog that it holds for", async () => {
  const gateway = gatewayOf(MOST - 1);
  const askAll = () =>
    Promise.all(QUERIES.map(async (query) => (await gateway.ask({ query, limit: 10 })).text));
  const first = await askAll();
  expect(await gateway.ready()).toMatchObject({ mode: "hybrid", waiting: 0 });
  expect(first).toEqual(await askAll());
  expect(first.join("\n")).not.toContain("still being indexed");
});

/** Leaves out the handle of the session and the age of a listing. */
function withoutTimes(text: string): string {
  return text.replace(/\nsession: .*/, "").replace(/listing of \d+ \w+ ago/, "listing");
}

verifies(
  "search:first-is-final",
  "of the program, over MCP, from its first and from a later start",
  async () => {
    const program = openProgram();
    const server = program.write("server.ts", SERVER);
    const config = program.write("mcp.json", {
      mcpServers: { office: { command: process.execPath, args: [server] } },
    });
    for (const start of ["first", "later"]) {
      const ask = await program.serve("--no-daemon", "--trust", "--config", config);
      const query = "let my colleagues know about the delay";
      const first = await ask("ask", { query });
      expect(first, start).toContain("notify_team");
      const second = await ask("ask", { query, session: "new" });
      expect(withoutTimes(second), start).toBe(withoutTimes(first));
    }
  },
);

verifies("search:says-waiting", "an index that still embeds says so, and stops when it has", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const table = createStaticEmbedder();
  const embedder = {
    id: "slow@1",
    dimensions: table.dimensions,
    embed: table.embed,
    embedDocuments: async (texts: readonly string[]) => {
      await released;
      return table.embed(texts);
    },
  };
  const index = createEmbeddedIndex({ embedder });
  const gateway = gatewayOf(30, index);
  expect(await gateway.ready()).toMatchObject({ mode: "lexical", waiting: 30 });
  const query = "let my colleagues know about the delay";
  const early = await gateway.ask({ query });
  expect(early.text).toContain("30 entries are still being indexed by meaning");
  expect((await gateway.ask({ query: "notify_team" })).text).not.toContain("still being indexed");

  release();
  await index.settled();
  expect((await gateway.report()).search).toMatchObject({ mode: "hybrid", waiting: 0 });
  const late = await gateway.ask({ query });
  expect(late.text).not.toContain("still being indexed");
  expect(late.hits[0]?.name).toBe("notify_team");
});

test("a larger catalog answers by words at once and says so, until its vectors are made", async () => {
  const gateway = gatewayOf(MOST + 1_000);
  const query = "let my colleagues know about the delay";
  expect((await gateway.ask({ query })).text).toContain("still being indexed by meaning");
  expect(await gateway.ready()).toMatchObject({ mode: "hybrid", waiting: 0 });
  expect((await gateway.ask({ query })).text).not.toContain("still being indexed");
});

const SERVER = `
import { createInterface } from "node:readline";
const tools = [["notify_team", "Posts a message to the channel of a team."], ["settle_invoice", "Pays an open invoice."], ["forecast", "Tells the weather of the next days."], ["water_plants", "Opens the valve of the garden."]]
  .map(([name, description]) => ({ name, description, inputSchema: { type: "object" } }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === "initialize"
    ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "office", version: "1" } }
    : method === "tools/list" ? { tools } : {};
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});
`;
