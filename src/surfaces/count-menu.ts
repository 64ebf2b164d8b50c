import { setImmediate } from "node:timers/promises";
import type { TokenCounter } from "../util/tokens.ts";

const AT_ONCE_MS = 10;
const known = new WeakMap<readonly object[], Promise<number>>();

/** The tokens of a list of tools, a line of JSON each. Long lists are counted in between other work. */
export function countMenu(tools: readonly object[], countTokens: TokenCounter): Promise<number> {
  const counting = known.get(tools) ?? count(tools, countTokens);
  known.set(tools, counting);
  return counting;
}

async function count(tools: readonly object[], countTokens: TokenCounter): Promise<number> {
  let tokens = 0;
  let since = performance.now();
  for (const tool of tools) {
    tokens += countTokens(`${JSON.stringify(tool)}\n`);
    if (performance.now() - since < AT_ONCE_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  return tokens;
}
