import type { LearningEvent } from "./learning-event.ts";

/** A query and the entry that was used for it. */
export interface UsedQuery {
  readonly query: string;
  readonly route: string;
}

/** The queries that led to a call of an entry shown for them, each with its entry once. */
export function usedQueries(events: readonly LearningEvent[]): UsedQuery[] {
  const last = new Map<string, (LearningEvent & { kind: "asked" })[]>();
  const used = new Map<string, UsedQuery>();
  for (const event of events) {
    const { conversation } = event;
    const open = last.get(conversation) ?? [];
    if (event.kind === "asked") {
      const siblings = open.filter(({ ask }) => ask !== undefined && ask === event.ask);
      last.set(conversation, [...siblings, event]);
    }
    if (event.kind !== "used") continue;
    // An ask may have several needs. The entry was used for the one that it fits best.
    const [best] = open
      .filter(({ shown }) => shown.includes(event.route))
      .sort((a, b) => shareOf(b, event.route) - shareOf(a, event.route));
    if (best) used.set(JSON.stringify([best.query, event.route]), { query: best.query, route: event.route });
  }
  return [...used.values()];
}

function shareOf({ found, shown }: LearningEvent & { kind: "asked" }, route: string): number {
  const share = found?.find(([id]) => id === route)?.[1];
  return share ?? 1 / (2 + shown.indexOf(route));
}
