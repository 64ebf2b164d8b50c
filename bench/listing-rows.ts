import type { Row } from "./benchmark.ts";

/** Compares the tokens per request of listing all tools with those of the menu. */
export function listingRows(
  name: string,
  { tools, all, menu }: { readonly tools: number; readonly all: number; readonly menu: number },
): Row[] {
  const row = (metric: string, value: number, unit: string): Row => ({
    bench: "tokens",
    case: name,
    system: "keyhole",
    metric,
    value,
    unit,
  });
  return [
    row("tools", tools, "count"),
    row("list_all_tokens", all, "tokens"),
    row("menu_tokens", menu, "tokens"),
    row("saved_share", 1 - menu / all, "share"),
  ];
}
