// The four systems of the examples, as their own cases: what listing each would cost, and what its menu costs.
import { createGateway, type TokenCounter } from "keyhole";
import { PLAYGROUND } from "../examples/playground/principals.ts";
import { createSystems, listEverything } from "../examples/playground/systems.ts";
import type { Row } from "./benchmark.ts";

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
    const row = (metric: string, value: number, unit: string): Row => ({
      bench: "tokens",
      case: name,
      system: "keyhole",
      metric,
      value,
      unit,
    });
    rows.push(
      row("tools", listed.length, "count"),
      row("list_all_tokens", all, "tokens"),
      row("menu_tokens", menu, "tokens"),
      row("saved_share", 1 - menu / all, "share"),
    );
  }
  return rows;
}
