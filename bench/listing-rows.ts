import type { Row } from "./benchmark.ts";

/** What listing some tools costs on each request, and what the menu costs instead. */
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
