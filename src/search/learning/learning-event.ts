import { z } from "zod";

const shared = { at: z.number(), scope: z.string(), conversation: z.string() };

/** What is learned from: a query with what was shown for it, and an entry that ran well. */
export const learningEventSchema = z.discriminatedUnion("kind", [
  z.object({ ...shared, kind: z.literal("asked"), query: z.string(), shown: z.array(z.string()) }),
  z.object({ ...shared, kind: z.literal("used"), route: z.string() }),
]);

export type LearningEvent = z.output<typeof learningEventSchema>;
