import { z } from "zod";
import { hitSchema } from "../render/hit.ts";
import { KINDS } from "../schema/entry.ts";

export const MIN_ASK_TOKENS = 64;

export const askInput = z
  .object({
    query: z.string().optional().describe("What you need to do, in your words or by name"),
    queries: z.array(z.string()).min(1).max(8).optional().describe("Several needs at once"),
    domain: z.string().optional(),
    kinds: z.array(z.enum(KINDS)).optional(),
    perDomain: clamped(1, 50).optional(),
    limit: clamped(1, 50).optional(),
    maxTokens: clamped(MIN_ASK_TOKENS, 25_000).optional(),
    explain: z.boolean().optional(),
    session: z.string().optional().describe('Handle from an answer, or "new"'),
  })
  .refine(({ query, queries }) => query !== undefined || queries !== undefined, "query or queries is needed");
export type AskInput = z.output<typeof askInput>;

export const askOutput = z.object({
  /** The queries that were searched for. */
  queries: z.array(z.string()),
  /** Best first, whatever their domain; then entry points of domains, marked as such. */
  hits: z.array(hitSchema),
  /** In the order of their best hit; domains without a hit come last. */
  domains: z.array(z.object({ name: z.string(), description: z.string() })),
  rules: z.array(z.object({ domain: z.string(), category: z.string().optional(), text: z.string() })),
  /** Scores by field, word and signal, by route; only with `explain`. */
  explanations: z.record(z.string(), z.unknown()).optional(),
  /** Near names, if nothing was named exactly and little was found. */
  suggestions: z.array(z.string()),
  /** Domains whose entry points did not fit: their names, as many as fit, and how many more there are. */
  leftOut: z.object({ domains: z.array(z.string()), more: z.number() }).optional(),
  /** How many hits, entry points and rules were left out for lack of room. */
  omitted: z.number(),
  notes: z.array(z.string()),
  session: z.string().optional(),
});
export type AskOutput = z.output<typeof askOutput>;

/** Some clients hide bounds from their model, so a number outside them is clamped. */
function clamped(least: number, most: number) {
  return z.preprocess(
    (value) => (typeof value === "number" ? Math.min(most, Math.max(least, Math.round(value))) : value),
    z.int().min(least).max(most),
  );
}
