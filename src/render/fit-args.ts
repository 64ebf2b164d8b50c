import type { TokenCounter } from "../util/tokens.ts";

/** Placeholder, replaced by the merged version. */
export function fitArgs<T extends { readonly required: boolean }>(
  args: readonly T[],
  { maxTokens, countTokens }: { readonly maxTokens: number; readonly countTokens: TokenCounter },
): { readonly args: T[]; readonly omitted: number } {
  const ordered = [...args.filter((arg) => arg.required), ...args.filter((arg) => !arg.required)];
  const kept: T[] = [];
  let room = maxTokens;
  for (const arg of ordered) {
    room -= countTokens(JSON.stringify(arg));
    if (room < 0) break;
    kept.push(arg);
  }
  return { args: kept, omitted: args.length - kept.length };
}
