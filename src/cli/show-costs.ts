import { toVisibleLine } from "../util/visible-text.ts";
import type { Measured, ServerCost } from "./measure-servers.ts";

const WIDEST = 40;

/** A line for each server, with its tools and tokens. */
export function costLines(servers: readonly (ServerCost & { readonly state?: string })[]): string[] {
  const width = Math.max(...servers.map(({ label }) => label.length), 6);
  return servers.map(({ label, tools, tokens, failure, state = "" }) => {
    const cost = `${count(tools).padStart(5)} ${tools === 1 ? "tool " : "tools"} ${count(tokens).padStart(8)} tokens`;
    const said = failure === undefined ? `${cost}  ${state}` : state || `not listed: ${failure}`;
    return toVisibleLine(`  ${label.padEnd(width)}  ${said}`.trimEnd());
  });
}

/** Two bars: the tokens of all tools, and those of Keyhole's own. None if no server was listed. */
export function savingLines({ before, after }: Pick<Measured, "before" | "after">): string[] {
  if (before === 0) return [];
  const most = Math.max(before, after, 1);
  const bar = (tokens: number) =>
    "█".repeat(Math.max(1, Math.round((tokens / most) * WIDEST))).padEnd(WIDEST);
  return [
    `  before  ${bar(before)}  ${count(before)} tokens in every request`,
    `  after   ${bar(after)}  ${count(after)} tokens`,
  ];
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
