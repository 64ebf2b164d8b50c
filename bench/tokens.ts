// The tokens of every request: with all tools and their schemas, and with the menu instead.
import { join } from "node:path";
import { createGateway } from "keyhole";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { conversationRows } from "./conversations.ts";
import { listingRows } from "./listing-rows.ts";
import { systemRows } from "./systems.ts";
import { listSets, readJsonLines, type SetTool, toDomains } from "./tool-sets.ts";

export const benchmark: Benchmark = async ({ data }) => {
  const sets = data === undefined ? [] : listSets(data);
  const countTokens = await loadTokenCounter();
  const rows: Row[] = [];
  for (const set of sets) {
    const tools = readJsonLines<SetTool>(join(data!, set, "tools.jsonl"));
    const listed = tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      inputSchema: input_schema ?? { type: "object", properties: {} },
    }));
    const gateway = createGateway({ domains: toDomains(tools).domains });
    const all = countTokens(JSON.stringify(listed));
    const menu = countTokens(JSON.stringify(await gateway.menu()));
    await gateway.close();
    rows.push(...listingRows(set, { tools: tools.length, all, menu }));
  }
  return [...rows, ...(await systemRows(countTokens)), ...(await conversationRows(countTokens))];
};
