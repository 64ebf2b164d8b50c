import { z } from "zod";
import { lazy } from "../../util/lazy.ts";

/**
 * An event that teaches: a query with the entries shown for it, an entry that ran well (`used`), or one whose
 * call failed or was undone (`failed`).
 */
const learningEventSchema = lazy(() => {
  const shared = {
    at: z.number(),
    scope: z.string(),
    conversation: z.string(),
    principal: z.string().optional(),
  };
  return z.discriminatedUnion("kind", [
    z.object({
      ...shared,
      kind: z.literal("asked"),
      query: z.string(),
      /** The same for all queries of one ask. */
      ask: z.string().optional(),
      shown: z.array(z.string()),
      /** Search's own order before learning changed it, best first, each with its share of the best score. */
      found: z.array(z.tuple([z.string(), z.number()])).optional(),
    }),
    z.object({ ...shared, kind: z.literal("used"), route: z.string() }),
    z.object({ ...shared, kind: z.literal("failed"), route: z.string() }),
  ]);
});

export type LearningEvent = z.output<ReturnType<typeof learningEventSchema>>;

/** Events to forget: all of a scope, all about an entry, or both. */
export interface Forgotten {
  readonly scope?: string;
  readonly route?: string;
}

export function isForgotten(event: LearningEvent, { scope, route }: Forgotten): boolean {
  if (scope !== undefined && event.scope !== scope) return false;
  return (
    route === undefined || (event.kind === "asked" ? event.shown.includes(route) : event.route === route)
  );
}

/** Undefined if unreadable. */
export function parseEvent(text: string): LearningEvent | undefined {
  try {
    return learningEventSchema().safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
