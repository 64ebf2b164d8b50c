// The four systems of the examples, one case each: the cost of listing it, and the cost of its menu.
import { createGateway, type TokenCounter, type View } from "keyhole";
import { PLAYGROUND } from "../examples/playground/principals.ts";
import { createSystems } from "../examples/playground/systems.ts";
import type { Row } from "./benchmark.ts";
import { listingRows } from "./listing-rows.ts";

export async function systemRows(countTokens: TokenCounter): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, domains, sources, close } of createSystems()) {
    const gateway = createGateway({ domains, sources, principal: PLAYGROUND });
    await gateway.ready();
    const listed = listEverything(await gateway.view());
    const all = countTokens(JSON.stringify(listed));
    const menu = countTokens(JSON.stringify(await gateway.menu()));
    await gateway.close();
    await close();
    rows.push(...listingRows(name, { tools: listed.length, all, menu }));
  }
  return rows;
}

/**
 * Everything that a model would see on every request without Keyhole: all tools with their schemas. A domain
 * without tools lists its documents by name and description.
 */
function listEverything(view: View): object[] {
  return [...Map.groupBy(view.entries, ({ domain }) => domain)].flatMap(([domain, entries]): object[] => {
    const tools = entries.filter(({ kind }) => kind === "tool");
    if (tools.length > 0)
      return tools.map(({ op, description, inputSchema }) => ({ name: op, description, inputSchema }));
    const shown = view.shown.filter((entry) => entry.domain === domain);
    return shown.map(({ route, name, description }) => ({ uri: route, name, description }));
  });
}
