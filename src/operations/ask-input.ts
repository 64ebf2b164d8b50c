import { z } from "zod";
import { KINDS } from "../schema/entry.ts";
import { hitSchema } from "./hit.ts";

export const MIN_ASK_TOKENS = 64;

export const askInput = z
  .strictObject({
    query: z.string().optional().describe("What you need to do, in your words or by name"),
    queries: z.array(z.string()).min(1).max(8).optional().describe("Several needs at once"),
    domain: z.string().optional(),
    kinds: z.array(z.enum(KINDS)).optional(),
    perDomain: z.int().min(1).max(50).optional(),
    limit: z.int().min(1).max(50).default(10),
    maxTokens: z.int().min(MIN_ASK_TOKENS).max(25_000).optional(),
    explain: z.boolean().optional(),
    session: z.string().optional().describe('Handle from an answer, or "new"'),
  })
  .refine(({ query, queries }) => query !== undefined || queries !== undefined, "query or queries is needed");
export type AskInput = z.output<typeof askInput>;

export const askOutput = z.object({
  /** Best first, whatever their domain. */
  hits: z.array(hitSchema),
  /** In the order of their best hit; domains without a hit come last. */
  domains: z.array(z.object({ name: z.string(), description: z.string(), entryPoints: z.array(hitSchema) })),
  rules: z.array(z.object({ domain: z.string(), category: z.string().optional(), text: z.string() })),
  /** Scores by field, word and signal, by route; only where `explain` was given. */
  explanations: z.record(z.string(), z.unknown()).optional(),
  /** Near names, where nothing was named exactly and little was found. */
  suggestions: z.array(z.string()),
  /** How many hits, entry points and rules were left out for lack of room. */
  omitted: z.number(),
  notes: z.array(z.string()),
  session: z.string().optional(),
});
export type AskOutput = z.output<typeof askOutput>;
