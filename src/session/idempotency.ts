import { LRUCache } from "lru-cache";
import { problem } from "../schema/problem.ts";
import { lazy } from "../util/lazy.ts";

/** Remembers the answers to calls that carry an idempotency key. */
export interface Idempotency<T> {
  /**
   * Runs a call once for each key. The same key with the same call gives the first answer, also while the call is
   * running; with another call it is a conflict. A failure is kept too, since it may have had an effect, unless
   * `neverRan` says that the call was refused before it ran.
   */
  once(
    key: string,
    callHash: string,
    run: () => Promise<T>,
    neverRan: (error: unknown) => boolean,
  ): Promise<T>;
}

const MAX_KEYS = 10_000;
const KEEP_MS = 24 * 60 * 60_000;

export function createIdempotency<T>(): Idempotency<T> {
  const answers = lazy(
    () =>
      new LRUCache<string, { readonly callHash: string; readonly answer: Promise<T> }>({
        max: MAX_KEYS,
        ttl: KEEP_MS,
      }),
  );
  return {
    once: async (key, callHash, run, neverRan) => {
      const known = answers().get(key);
      if (known && known.callHash !== callHash) {
        throw problem("CONFLICT", {
          reason: "This idempotency key was already used for a call with other args.",
        });
      }
      if (known) return known.answer;
      const answer = run();
      answers().set(key, { callHash, answer });
      answer.catch((error: unknown) => neverRan(error) && answers().delete(key));
      return answer;
    },
  };
}
