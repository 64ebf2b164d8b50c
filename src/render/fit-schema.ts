import type { JsonSchema } from "../schema/json-schema.ts";
import type { TokenCounter } from "../util/tokens.ts";

/** Placeholder, replaced by the merged version. */
export function fitSchema(
  schema: JsonSchema,
  {
    first,
    maxTokens,
    countTokens,
  }: { readonly first: readonly string[]; readonly maxTokens: number; readonly countTokens: TokenCounter },
): { readonly schema: JsonSchema; readonly omitted: number } {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, unknown>);
  const required = new Set((schema.required ?? []) as string[]);
  const rank = (name: string) => (first.includes(name) ? 0 : required.has(name) ? 1 : 2);
  const ordered = properties.toSorted(([one], [other]) => rank(one) - rank(other));
  const kept: [string, unknown][] = [];
  let room = maxTokens;
  for (const property of ordered) {
    room -= countTokens(JSON.stringify(property));
    if (room < 0) break;
    kept.push(property);
  }
  const names = new Set(kept.map(([name]) => name));
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(kept),
      required: [...required].filter((name) => names.has(name)),
    },
    omitted: properties.length - kept.length,
  };
}
