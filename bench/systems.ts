// The four systems of the examples, one case each: the cost of listing it, and the cost of its menu.
import { createGateway, type TokenCounter } from "keyhole";
import { PLAYGROUND } from "../examples/playground/principals.ts";
import { createSystems, listEverything } from "../examples/playground/systems.ts";
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
