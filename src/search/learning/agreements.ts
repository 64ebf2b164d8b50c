import { LRUCache } from "lru-cache";

/** A use of an entry after a query. */
export interface Use {
  readonly scope: string;
  readonly principal: string;
  readonly route: string;
  readonly query: string;
}

/** Knows which uses several principals agree on. */
export interface Agreements {
  /** Notes a use. True if enough principals have used the entry for the like, and this one has not said so before. */
  note(use: Use): boolean;
}

interface Voice {
  readonly principal: string;
  readonly query: string;
}

/** As many as it takes to suggest a next step to others. */
const SEVERAL = 3;
const MAX_ROUTES = 20_000;
const MAX_VOICES = 64;
/** One principal alone cannot push out the voices of others. */
const MAX_OWN = 4;

export function createAgreements(isSameNeed: (one: string, other: string) => boolean): Agreements {
  const heard = new LRUCache<string, readonly Voice[]>({ max: MAX_ROUTES });
  return {
    note: ({ scope, principal, route, query }) => {
      const key = JSON.stringify([scope, route]);
      const voices = heard.get(key) ?? [];
      const agreeing = new Set(
        voices.filter((voice) => isSameNeed(voice.query, query)).map((voice) => voice.principal),
      );
      if (agreeing.has(principal)) return false;
      const own = voices.filter((voice) => voice.principal === principal);
      const others = own.length < MAX_OWN ? voices : voices.filter((voice) => voice !== own[0]);
      heard.set(key, [...others, { principal, query }].slice(-MAX_VOICES));
      return agreeing.size + 1 >= SEVERAL;
    },
  };
}
